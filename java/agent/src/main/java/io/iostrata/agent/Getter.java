package io.iostrata.agent;

import java.lang.reflect.Method;

/** A method of classes that the bootstrap loader cannot name. */
final class Getter {
  private final String method;
  private final Class<?>[] parameters;

  /** Tied to the classes, so that their loaders can go. */
  private final ClassValue<Method> methods =
      new ClassValue<Method>() {
        @Override
        protected Method computeValue(Class<?> type) {
          return find(type);
        }
      };

  Getter(String method, Class<?>... parameters) {
    this.method = method;
    this.parameters = parameters;
  }

  Object of(Object receiver, Object... arguments) throws ReflectiveOperationException {
    return methods.get(receiver.getClass()).invoke(receiver, arguments);
  }

  private Method find(Class<?> type) {
    for (Class<?> owner = type; owner != null; owner = owner.getSuperclass()) {
      try {
        Method found = owner.getDeclaredMethod(method, parameters);
        found.setAccessible(true);
        return found;
      } catch (NoSuchMethodException e) {
        // inherited, then
      }
    }
    throw new IllegalStateException(type.getName() + " has no method " + method + "()");
  }
}
