package io.iostrata.agent;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/** Somebody else's agent: hands every class back as it came, and asks for ours again. */
public final class OtherAgent implements ClassFileTransformer {
  public static void premain(String options, Instrumentation instrumentation) throws Exception {
    instrumentation.addTransformer(new OtherAgent(), true);
    instrumentation.retransformClasses(FileInputStream.class, FileOutputStream.class);
  }

  @Override
  public byte[] transform(
      ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
    return bytes.clone();
  }

  static Path jar(Path path) throws IOException {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Premain-Class", OtherAgent.class.getName());
    manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
    try (OutputStream file = Files.newOutputStream(path);
        JarOutputStream jar = new JarOutputStream(file, manifest)) {
      String name = OtherAgent.class.getName().replace('.', '/') + ".class";
      jar.putNextEntry(new JarEntry(name));
      jar.write(OtherAgent.class.getResourceAsStream("/" + name).readAllBytes());
    }
    return path;
  }
}
