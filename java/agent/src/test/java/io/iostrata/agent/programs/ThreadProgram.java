package io.iostrata.agent.programs;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;

/** Threads that come and go, each reads 5,000 times 100 bytes of a file of its own. */
public final class ThreadProgram {
  private static final int READS = 5_000;

  private ThreadProgram() {}

  public static void main(String[] arguments) throws Exception {
    for (int round = 0; round < 3; round++) {
      Thread[] threads = new Thread[8];
      for (int i = 0; i < threads.length; i++) {
        File file = new File(arguments[0], "thread-" + i);
        threads[i] = new Thread(() -> read(file));
        threads[i].start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
    System.out.println("done");
  }

  private static void read(File file) {
    try {
      try (FileOutputStream out = new FileOutputStream(file)) {
        out.write(new byte[READS * 100]);
      }
      byte[] some = new byte[100];
      try (FileInputStream in = new FileInputStream(file)) {
        for (int i = 0; i < READS; i++) {
          if (in.read(some) != 100) {
            throw new IOException("short read at " + i);
          }
        }
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
