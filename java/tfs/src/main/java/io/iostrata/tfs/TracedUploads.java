package io.iostrata.tfs;

import io.iostrata.segment.ThreadLog;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.MultipartUploader;
import org.apache.hadoop.fs.MultipartUploaderBuilder;
import org.apache.hadoop.fs.Path;

/**
 * An uploader of parts, or its builder, of the file system behind: it gets the names that are known
 * there, and its calls are recorded. Both are proxies, since {@code putPart} has other arguments in
 * Hadoop 3.3 than in 3.4.
 *
 * <p>A part that goes on after its call, as S3A's may, is written when it has been: without a
 * duration.
 */
final class TracedUploads implements InvocationHandler {
  private final TracedFileSystem fs;
  private final Object inner;

  private TracedUploads(TracedFileSystem fs, Object inner) {
    this.fs = fs;
    this.inner = inner;
  }

  static MultipartUploaderBuilder<?, ?> builder(
      TracedFileSystem fs, MultipartUploaderBuilder<?, ?> inner) {
    return proxy(MultipartUploaderBuilder.class, fs, inner);
  }

  private static <T> T proxy(Class<T> type, TracedFileSystem fs, Object inner) {
    ClassLoader loader = TracedUploads.class.getClassLoader();
    Class<?>[] types = {type};
    return type.cast(Proxy.newProxyInstance(loader, types, new TracedUploads(fs, inner)));
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    int path = place(arguments);
    if (path >= 0) {
      return upload(method, arguments, path);
    }
    if (method.getName().equals("equals")) {
      return proxy == arguments[0];
    }
    Object result = call(method, arguments);
    if (result == inner) {
      return proxy; // a builder
    }
    boolean built = result instanceof MultipartUploader;
    return built ? proxy(MultipartUploader.class, fs, result) : result;
  }

  /** Of the path among arguments; -1: they have none. */
  private static int place(Object[] arguments) {
    for (int i = 0; arguments != null && i < arguments.length; i++) {
      if (arguments[i] instanceof Path) {
        return i;
      }
    }
    return -1;
  }

  private Object upload(Method method, Object[] arguments, int place) throws Throwable {
    Path inner = fs.inner((Path) arguments[place]);
    Object[] there = arguments.clone();
    there[place] = inner;
    Target target = fs.target(inner);
    int point = point(method.getName());
    long bytes = point == Point.WRITE ? (Long) arguments[arguments.length - 1] : 0;
    ThreadLog log = Tracer.enter(point, target, bytes, -1);
    Object result;
    try {
      result = call(method, there);
    } catch (Throwable e) {
      Tracer.failed(log, point, e);
      throw e;
    }
    CompletableFuture<?> future = (CompletableFuture<?>) result;
    if (!future.isDone()) {
      Tracer.exit(log, point, 0);
      return point == Point.WRITE ? future.whenComplete((x, e) -> later(target, bytes, e)) : future;
    }
    future.whenComplete((x, e) -> ended(log, point, bytes, e));
    return future;
  }

  private void later(Target target, long bytes, Throwable thrown) {
    ended(Tracer.enter(Point.WRITE, target, bytes, -1), Point.WRITE, bytes, thrown);
  }

  private void ended(ThreadLog log, int point, long bytes, Throwable thrown) {
    if (thrown == null) {
      Tracer.exit(log, point, bytes);
      fs.wrote(bytes);
    } else {
      boolean isAround = thrown.getCause() instanceof IOException;
      Tracer.failed(log, point, isAround ? thrown.getCause() : thrown);
    }
  }

  /** As the methods of {@link MultipartUploader} that have a path are named. */
  private static int point(String method) {
    switch (method) {
      case "startUpload":
        return Point.CREATE;
      case "putPart":
        return Point.WRITE;
      case "complete":
        return Point.CONCAT;
      default: // abort, abortUploadsUnderPath
        return Point.DELETE;
    }
  }

  private Object call(Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(inner, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
