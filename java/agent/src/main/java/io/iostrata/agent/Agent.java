package io.iostrata.agent;

import io.iostrata.segment.Recorder;
import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;

/**
 * Where the JVM starts us: {@code -javaagent:iostrata-agent.jar=dir=D[,run=R]}. All classes of the
 * jar are in the bootstrap loader (Boot-Class-Path of the manifest), because java.io calls them.
 */
public final class Agent {
  static final String VERSION = "0.1.0";

  private Agent() {}

  /** Called before main. Never throws: an exception here would end the JVM. */
  public static void premain(String options, Instrumentation instrumentation) {
    begin(options, instrumentation);
  }

  /** Called in a running JVM. */
  public static void agentmain(String options, Instrumentation instrumentation) {
    begin(options, instrumentation);
  }

  private static void begin(String options, Instrumentation instrumentation) {
    String line;
    try {
      line = start(AgentOptions.parse(options), instrumentation);
    } catch (Throwable e) {
      String message = e instanceof IOException ? e.getMessage() : e.toString();
      line = "not tracing: " + message;
    }
    try {
      System.err.println("iostrata " + VERSION + ": " + line);
    } catch (Throwable e) {
      // the one line we owe has nowhere to go
    }
  }

  private static String start(AgentOptions options, Instrumentation instrumentation)
      throws Exception {
    if (Agent.class.getClassLoader() != null) {
      throw new IOException("the agent's jar has been renamed: call it iostrata-agent.jar");
    }
    if (Hooks.recorder != null) {
      throw new IOException("this JVM has an agent already");
    }
    if (!new File(options.dir).isDirectory()) {
      throw new IOException(options.dir + " is no directory");
    }
    ProcessFacts facts =
        new ProcessFacts(
            System.getProperty("sun.java.command"), options.run, System.getenv("CONTAINER_ID"));
    PointTable table = PointTable.parse(PointText.table());
    Hooks.install(table);
    Loader loader = new Loader(table);
    // First, so that what opening loads need not be woven a second time.
    Classes classes = new InstrumentedClasses(instrumentation, loader);
    Recorder recorder;
    try {
      recorder = Recorder.open(recorderOptions(options, facts, table));
    } catch (Throwable e) {
      classes.end();
      throw e;
    }
    Hooks.recorder = recorder;
    ProcessFacts.current = facts;
    loader.report(recorder);
    facts.reach(recorder, "");
    loader.weaveLoaded(classes);
    ControlWatch watch = new ControlWatch(recorder);
    boolean recording = watch.look();
    watch.start();
    return recording ? "recording to " + options.dir : "ready in " + options.dir + ", off";
  }

  private static Recorder.Options recorderOptions(
      AgentOptions options, ProcessFacts facts, PointTable table) {
    Recorder.Options to = new Recorder.Options();
    to.dir = new File(options.dir).toPath();
    to.text = facts.text();
    to.layerOfPoint = table.layerOfPoint;
    to.anchorOfPoint = table.anchorOfPoint;
    to.beginOfPoint = table.beginOfPoint;
    to.flowOfPoint = table.flowOfPoint;
    to.capBytes = options.capBytes;
    return to;
  }
}
