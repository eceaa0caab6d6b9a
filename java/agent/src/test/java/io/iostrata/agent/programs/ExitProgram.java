package io.iostrata.agent.programs;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;

/** Writes in a shutdown hook and leaves with an exit code of its own. */
public final class ExitProgram {
  private ExitProgram() {}

  public static void main(String[] arguments) {
    File file = new File(arguments[0], "hook");
    Runtime.getRuntime().addShutdownHook(new Thread(() -> write(file)));
    System.err.println("leaving");
    System.exit(42);
  }

  private static void write(File file) {
    try (FileOutputStream out = new FileOutputStream(file)) {
      Thread.sleep(50);
      out.write(new byte[11]);
    } catch (IOException | InterruptedException e) {
      e.printStackTrace();
    }
  }
}
