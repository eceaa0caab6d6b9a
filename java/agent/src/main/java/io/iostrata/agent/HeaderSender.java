package io.iostrata.agent;

import java.lang.reflect.Method;

/**
 * {@code carries(ret)}: a header of Hadoop's protocols, as built by the caller's thread. It gets
 * the field for a trace context that Hadoop kept when it lost its tracer (HADOOP-15566); peers that
 * know nothing of it skip it.
 */
final class HeaderSender extends Extractor {
  /** Tied to the classes, so that their loaders can go. */
  private static final ClassValue<Header> HEADERS =
      new ClassValue<Header>() {
        @Override
        protected Header computeValue(Class<?> type) {
          try {
            return new Header(type);
          } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e.toString(), e);
          }
        }
      };

  @Override
  Object instead(Probe probe, Object header) throws Throwable {
    return HEADERS.get(header.getClass()).with(header, Carrier.bytes(probe.cause()));
  }

  /** The methods of one message class that protobuf made. */
  private static final class Header {
    private final Method hasTraceInfo;
    private final Method toBuilder;
    private final Method traceInfo;
    private final Method setContext;
    private final Method copyFrom;
    private final Method build;

    Header(Class<?> type) throws ReflectiveOperationException {
      hasTraceInfo = type.getMethod("hasTraceInfo");
      toBuilder = type.getMethod("toBuilder");
      Class<?> builder = toBuilder.getReturnType();
      traceInfo = builder.getMethod("getTraceInfoBuilder");
      setContext = setter(traceInfo.getReturnType());
      copyFrom = setContext.getParameterTypes()[0].getMethod("copyFrom", byte[].class);
      build = builder.getMethod("build");
    }

    private static Method setter(Class<?> builder) throws NoSuchMethodException {
      for (Method method : builder.getMethods()) {
        if (method.getName().equals("setSpanContext")) {
          return method;
        }
      }
      throw new NoSuchMethodException(builder + "#setSpanContext");
    }

    /** The same header where somebody else has filled the field. */
    Object with(Object header, byte[] context) throws ReflectiveOperationException {
      if ((Boolean) hasTraceInfo.invoke(header)) {
        return header;
      }
      Object builder = toBuilder.invoke(header);
      setContext.invoke(traceInfo.invoke(builder), copyFrom.invoke(null, (Object) context));
      return build.invoke(builder);
    }
  }
}
