package io.iostrata.agent;

import java.lang.reflect.Field;

/** A field of classes that the bootstrap loader cannot name. */
final class FieldOf {
  private final String name;

  /** Tied to the classes, so that their loaders can go. */
  private final ClassValue<Field> fields =
      new ClassValue<Field>() {
        @Override
        protected Field computeValue(Class<?> type) {
          return find(type);
        }
      };

  FieldOf(String name) {
    this.name = name;
  }

  Object of(Object receiver) throws ReflectiveOperationException {
    return fields.get(receiver.getClass()).get(receiver);
  }

  int intOf(Object receiver) throws ReflectiveOperationException {
    return fields.get(receiver.getClass()).getInt(receiver);
  }

  private Field find(Class<?> type) {
    for (Class<?> owner = type; owner != null; owner = owner.getSuperclass()) {
      try {
        Field found = owner.getDeclaredField(name);
        found.setAccessible(true);
        return found;
      } catch (NoSuchFieldException e) {
        // inherited, then
      }
    }
    throw new IllegalStateException(type.getName() + " has no field " + name);
  }
}
