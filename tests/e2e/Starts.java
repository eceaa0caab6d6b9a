import java.io.InputStream;
import java.util.Arrays;

/** {@code Starts TIMES COMMAND…}: runs a command so often, one after the other, and takes its output. */
public final class Starts {
  public static void main(String[] arguments) throws Exception {
    String[] command = Arrays.copyOfRange(arguments, 1, arguments.length);
    for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
      Process child = new ProcessBuilder(command).redirectErrorStream(true).start();
      child.getOutputStream().close();
      InputStream output = child.getInputStream();
      int size = 0;
      for (int read; (read = output.read(new byte[4096])) >= 0; ) {
        size += read;
      }
      System.out.println(child.waitFor() + " " + size);
    }
  }
}
