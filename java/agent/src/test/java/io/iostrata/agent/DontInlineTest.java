package io.iostrata.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** In the jar, hooks carry the annotation that the JVM heeds. */
class DontInlineTest {
  private static final String OF_THE_JVM = "Ljdk/internal/vm/annotation/DontInline;";

  @Test
  void theyAreCompiledOnce() throws IOException {
    try (JarFile jar = new JarFile(TracedJvm.JAR.toFile())) {
      assertThat(annotated(jar, "Hooks"))
          .containsExactly(
              "context",
              "enter",
              "enterAnyhow",
              "exit",
              "exitAnyhow",
              "failed",
              "learn",
              "measured",
              "other");
      assertThat(annotated(jar, "CountedHooks"))
          .containsExactly(
              "count",
              "countAnyhow",
              "counted",
              "enterCounted",
              "enterCountedAnyhow",
              "exitCounted",
              "leaveCount",
              "leaveCounted");
      // The JVM's own is meant, and nothing of ours may lie in its packages.
      assertThat(jar.stream().map(e -> e.getName()).filter(n -> n.startsWith("jdk/"))).isEmpty();
    }
  }

  private static Set<String> annotated(JarFile jar, String type) throws IOException {
    Set<String> found = new TreeSet<>();
    JarEntry of =
        jar.stream().filter(e -> e.getName().endsWith("/" + type + ".class")).findAny().get();
    try (InputStream bytes = jar.getInputStream(of)) {
      new ClassReader(bytes)
          .accept(
              new ClassVisitor(Opcodes.ASM9) {
                @Override
                public MethodVisitor visitMethod(
                    int access, String method, String desc, String signature, String[] thrown) {
                  return new MethodVisitor(Opcodes.ASM9) {
                    @Override
                    public AnnotationVisitor visitAnnotation(String annotation, boolean visible) {
                      if (visible && annotation.equals(OF_THE_JVM)) {
                        found.add(method);
                      }
                      return null;
                    }
                  };
                }
              },
              0);
    }
    return found;
  }
}
