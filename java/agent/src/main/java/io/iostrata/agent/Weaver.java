package io.iostrata.agent;

import java.util.Arrays;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Bytes of a class in, bytes of the traced class out: a function of the class and its points, which
 * knows nothing of how the class is loaded. Only method bodies change, so a woven class can replace
 * one that is already in use.
 */
final class Weaver {
  /** What became of the points of one class. */
  static final class Woven {
    /** Null when no point was found: the class stays as it is. */
    final byte[] bytes;

    final Point[] found;

    /** Points whose method or field this version of the class does not have. */
    final Point[] missing;

    Woven(byte[] bytes, Point[] found, Point[] missing) {
      this.bytes = bytes;
      this.found = found;
      this.missing = missing;
    }
  }

  private Weaver() {}

  static Woven weave(byte[] original, Point[] points) {
    ClassReader reader = new ClassReader(original);
    Fields fields = new Fields();
    reader.accept(fields, ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    ClassWriter writer = new ClassWriter(reader, 0);
    ClassWeaver weaver = new ClassWeaver(writer, fields, points);
    reader.accept(weaver, 0);
    Point[] found = weaver.points(true);
    return new Woven(found.length == 0 ? null : writer.toByteArray(), found, weaver.points(false));
  }

  /** Fields of the class by name, with their descriptors. */
  static final class Fields extends ClassVisitor {
    /** A superclass's field that {@code this} may read: the JVM finds it along the hierarchy. */
    private static final String[][] INHERITED = {
      {"java/io/FilterOutputStream", "out", "Ljava/io/OutputStream;"},
      {"java/io/FilterInputStream", "in", "Ljava/io/InputStream;"},
    };

    String owner;
    private String[] names = new String[16];
    private String[] descriptors = new String[16];
    private int size;

    Fields() {
      super(Opcodes.ASM9);
    }

    @Override
    public void visit(int v, int access, String name, String sign, String parent, String[] faces) {
      owner = name;
      for (int i = 0; i < INHERITED.length; i++) {
        if (INHERITED[i][0].equals(parent)) {
          add(INHERITED[i][1], INHERITED[i][2]);
        }
      }
    }

    @Override
    public FieldVisitor visitField(int access, String name, String desc, String sign, Object v) {
      if ((access & Opcodes.ACC_STATIC) == 0) {
        add(name, desc);
      }
      return null;
    }

    private void add(String name, String descriptor) {
      if (size == names.length) {
        names = Arrays.copyOf(names, size * 2);
        descriptors = Arrays.copyOf(descriptors, size * 2);
      }
      names[size] = name;
      descriptors[size++] = descriptor;
    }

    /** Null when the class has no such field. */
    String descriptor(String name) {
      for (int i = 0; i < size; i++) {
        if (names[i].equals(name)) {
          return descriptors[i];
        }
      }
      return null;
    }
  }

  private static final class ClassWeaver extends ClassVisitor {
    private final Fields fields;
    private final Point[] points;
    private final boolean[] found;

    ClassWeaver(ClassVisitor next, Fields fields, Point[] points) {
      super(Opcodes.ASM9, next);
      this.fields = fields;
      this.points = points;
      found = new boolean[points.length];
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String name, String desc, String signature, String[] exceptions) {
      MethodVisitor next = super.visitMethod(access, name, desc, signature, exceptions);
      if ((access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) != 0) {
        return next;
      }
      // A method may have one point of ours and more of users: each wraps those before it.
      for (int i = 0; i < points.length; i++) {
        if (points[i].method.equals(name) && points[i].descriptor.equals(desc)) {
          Frame frame = new Frame(access, desc, fields);
          if (frame.canRead(points[i])) {
            found[i] = true;
            next = new MethodWeaver(next, points[i], frame);
          }
        }
      }
      return next;
    }

    Point[] points(boolean wanted) {
      int size = 0;
      Point[] some = new Point[points.length];
      for (int i = 0; i < points.length; i++) {
        if (found[i] == wanted) {
          some[size++] = points[i];
        }
      }
      return Arrays.copyOf(some, size);
    }
  }
}
