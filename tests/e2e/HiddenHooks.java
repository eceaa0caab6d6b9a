import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;

/** Loads a class that has a point through a class loader that hides the agent, as OSGi's do. */
public class HiddenHooks {
  static class Hiding extends URLClassLoader {
    Hiding(URL[] classes) {
      super(classes, null);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith("io.iostrata.")) {
        throw new ClassNotFoundException(name);
      }
      return super.loadClass(name, resolve);
    }
  }

  public static void main(String[] arguments) throws Exception {
    URL[] classes = {new java.io.File(arguments[1]).toURI().toURL()};
    ClassLoader loader =
        arguments[0].equals("hiding") ? new Hiding(classes) : new URLClassLoader(classes, null);
    Class<?> log = loader.loadClass("org.apache.hadoop.hdfs.server.namenode.FSEditLog");
    Method sync = log.getMethod("logSync", long.class);
    sync.invoke(log.getConstructor().newInstance(), 1L);
    System.out.println("called");
  }
}
