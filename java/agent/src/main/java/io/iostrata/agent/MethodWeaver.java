package io.iostrata.agent;

import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Adds the hooks of one point to one method:
 *
 * <pre>
 *   if (Hooks.on != 0) { Hooks.context(point, whom, …); Hooks.enter(point, …); }
 *   try { body, with Hooks.exit(point, bytes) before each return }
 *   catch (Throwable t) { Hooks.failed(point, t); throw t; }
 * </pre>
 *
 * of a counted-only point {@code CountedHooks.enterCounted(point, …)} and so on, and where its
 * bytes are known at the entry {@code CountedHooks.count(point, …)} and {@code
 * CountedHooks.counted(point)},
 *
 * <p>or, for an effect, only {@code Hooks.learn(…)} before each return or at the entry, or, where
 * something is added to what is returned, {@code Hooks.instead(returned, point)}. A point with
 * {@code through} asks {@link PassingStreams} first, at the entry and at each end.
 *
 * <p>No local variable is added and the handler's frame has none (or {@code this}, for such a
 * point), so every frame of the method stays true. Nothing added here can throw but for want of
 * stack: it reads arguments and fields of {@code this} and passes them on.
 */
final class MethodWeaver extends MethodVisitor {
  /** Not a constant: the jar gives each version a package of its own. */
  static final String HOOKS = Hooks.class.getName().replace('.', '/');

  private static final String COUNTED = CountedHooks.class.getName().replace('.', '/');

  private static final String PASSING = PassingStreams.class.getName().replace('.', '/');

  /** Stack that the longest sequence added here takes. */
  private static final int STACK = 12;

  private final Point point;
  private final Frame frame;
  private final Label body = new Label();
  private final boolean throughHandler;

  MethodWeaver(MethodVisitor next, Point point, Frame frame) {
    super(Opcodes.ASM9, next);
    this.point = point;
    this.frame = frame;
    throughHandler = !point.effectOnly;
  }

  @Override
  public void visitCode() {
    super.visitCode();
    if (point.before) {
      learn();
    }
    if (!throughHandler) {
      return;
    }
    mv.visitFieldInsn(Opcodes.GETSTATIC, HOOKS, "on", "I");
    mv.visitJumpInsn(Opcodes.IFEQ, body);
    if (point.through != null) {
      frame.reference(mv, point.through);
      mv.visitMethodInsn(Opcodes.INVOKESTATIC, PASSING, "through", "(Ljava/lang/Object;)Z", false);
      mv.visitJumpInsn(Opcodes.IFNE, body);
    }
    if (point.context != null) {
      pushPoint();
      frame.reference(mv, point.context.first);
      frame.reference(mv, point.context.second);
      hook("context", "(ILjava/lang/Object;Ljava/lang/Object;)V");
    }
    enter();
    mv.visitLabel(body);
    mv.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
    // The body may begin with a frame of its own, and no two may share an instruction.
    mv.visitInsn(Opcodes.NOP);
  }

  private void enter() {
    pushPoint();
    frame.reference(mv, point.target == null ? null : point.target.first);
    frame.reference(mv, point.target == null ? null : point.target.second);
    frame.number(mv, point.asked, 0);
    if (!point.counted) {
      frame.number(mv, point.offset, -1);
    }
    enterBytes();
    if (point.counted) {
      String name = point.countedAtEntry ? "count" : "enterCounted";
      counted(name, "(ILjava/lang/Object;Ljava/lang/Object;JJ)V");
    } else {
      hook("enter", "(ILjava/lang/Object;Ljava/lang/Object;JJJ)V");
    }
  }

  /** Pushes what is added to the bytes at the exit, or stands for them. */
  private void enterBytes() {
    Value bytes = point.bytes;
    if (bytes != null && bytes.kind == Value.DELTA) {
      frame.number(mv, bytes, 0);
      mv.visitInsn(Opcodes.LNEG);
    } else {
      boolean later = bytes != null && (bytes.atExit() || bytes.isInside());
      frame.number(mv, later ? null : bytes, 0);
    }
  }

  @Override
  public void visitInsn(int opcode) {
    if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
      exit();
    }
    super.visitInsn(opcode);
  }

  private void exit() {
    if (point.replaces) {
      pushPoint();
      hook("instead", "(Ljava/lang/Object;I)Ljava/lang/Object;");
      mv.visitTypeInsn(Opcodes.CHECKCAST, frame.returnedClass());
      return;
    }
    if (point.effectOnly) {
      if (!point.before) {
        learn();
      }
      return;
    }
    if (point.countedAtEntry) {
      pushPoint();
      ended("counted", "(I");
      return;
    }
    boolean asks = point.record && frame.returned().equals("Z");
    if (asks) {
      mv.visitInsn(Opcodes.DUP);
    }
    exitBytes();
    pushPoint();
    if (asks) {
      counted("exitRecord", "(ZJI)V");
    } else {
      ended(point.counted ? "exitCounted" : "exit", "(JI");
    }
  }

  private void learn() {
    Value first = point.effect.first;
    boolean returned = first != null && first.kind == Value.RETURNED;
    if (returned) {
      mv.visitInsn(Opcodes.DUP);
    }
    pushPoint();
    if (!returned) {
      frame.reference(mv, first);
    }
    frame.reference(mv, point.effect.second);
    String values = returned ? "(Ljava/lang/Object;I" : "(ILjava/lang/Object;";
    hook("learn", values + "Ljava/lang/Object;)V");
  }

  /** Pushes the bytes of the call as a long; what is to be returned stays below it. */
  private void exitBytes() {
    Value bytes = point.bytes;
    if (point.measure != null) {
      measure(point.measure);
    } else if (bytes == null || !bytes.atExit()) {
      mv.visitLdcInsn(Hooks.AS_ENTERED);
    } else if (bytes.kind == Value.COLLECTED) {
      pushPoint();
      frame.collected(mv);
    } else if (bytes.kind == Value.FIELD || bytes.kind == Value.DELTA) {
      frame.number(mv, bytes, 0);
    } else {
      mv.visitInsn(Frame.isWide(frame.returned()) ? Opcodes.DUP2 : Opcodes.DUP);
      if (bytes.kind == Value.RETURNED_BYTE) {
        hook("oneByte", "(I)J");
      } else {
        frame.widen(mv, frame.returned());
      }
    }
  }

  private void measure(Extraction measure) {
    if (measure.first.kind == Value.RETURNED) {
      mv.visitInsn(Opcodes.DUP);
      pushPoint();
      mv.visitInsn(Opcodes.SWAP);
    } else {
      pushPoint();
      frame.reference(mv, measure.first);
    }
    frame.reference(mv, measure.second);
    hook("measure", "(ILjava/lang/Object;Ljava/lang/Object;)J");
  }

  @Override
  public void visitMaxs(int maxStack, int maxLocals) {
    if (throughHandler) {
      Label handler = new Label();
      // Last in the table: the method's own handlers come first.
      mv.visitTryCatchBlock(body, handler, handler, null);
      mv.visitLabel(handler);
      int locals = point.through == null ? 0 : 1; // no compiler puts anything else into `this`
      Object[] caught = {"java/lang/Throwable"};
      mv.visitFrame(Opcodes.F_FULL, locals, new Object[] {frame.owner()}, 1, caught);
      mv.visitInsn(Opcodes.DUP);
      pushPoint();
      String counted = point.countedAtEntry ? "failedCount" : "failedCounted";
      ended(point.counted ? counted : "failed", "(Ljava/lang/Throwable;I");
      mv.visitInsn(Opcodes.ATHROW);
    }
    super.visitMaxs(maxStack + STACK, maxLocals);
  }

  /** Calls the hook of an end, which asks itself where the call passed through. */
  private void ended(String name, String values) {
    if (point.through != null) {
      frame.reference(mv, point.through);
    }
    String descriptor = values + (point.through == null ? ")V" : "Ljava/lang/Object;)V");
    if (point.counted) {
      counted(name, descriptor);
    } else {
      hook(name, descriptor);
    }
  }

  private void pushPoint() {
    mv.visitIntInsn(Opcodes.SIPUSH, point.id);
  }

  private void counted(String name, String descriptor) {
    mv.visitMethodInsn(Opcodes.INVOKESTATIC, COUNTED, name, descriptor, false);
  }

  private void hook(String name, String descriptor) {
    mv.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, name, descriptor, false);
  }
}
