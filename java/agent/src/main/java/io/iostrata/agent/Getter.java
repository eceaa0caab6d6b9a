package io.iostrata.agent;

import java.lang.reflect.Method;

/** A method without arguments of classes that the bootstrap loader cannot name. */
final class Getter {
  private final String method;

  /** Tied to the classes, so that their loaders can go. */
  private final ClassValue<Method> methods =
      new ClassValue<Method>() {
        @Override
        protected Method computeValue(Class<?> type) {
          return find(type);
        }
      };

  Getter(String method) {
    this.method = method;
  }

  Object of(Object receiver) throws ReflectiveOperationException {
    return methods.get(receiver.getClass()).invoke(receiver);
  }

  private Method find(Class<?> type) {
    for (Class<?> owner = type; owner != null; owner = owner.getSuperclass()) {
      try {
        Method found = owner.getDeclaredMethod(method);
        found.setAccessible(true);
        return found;
      } catch (NoSuchMethodException e) {
        // inherited, then
      }
    }
    throw new IllegalStateException(type.getName() + " has no method " + method + "()");
  }
}
