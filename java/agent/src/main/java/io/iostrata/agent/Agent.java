package io.iostrata.agent;

import io.iostrata.segment.ProcessFacts;
import io.iostrata.segment.Recorder;
import java.io.IOException;
import java.lang.instrument.Instrumentation;

/**
 * Where the JVM starts us: {@code -javaagent:iostrata-agent.jar=dir=D[,run=R]}, or by its attach
 * protocol. All classes of the jar are in the bootstrap loader (Boot-Class-Path of the manifest),
 * because java.io calls them; there they stay, so each version has a package of its own.
 */
public final class Agent {
  static final String VERSION = ProcessFacts.VERSION;

  private Agent() {}

  /** Called before main. Never throws: an exception here would end the JVM. */
  public static void premain(String options, Instrumentation instrumentation) {
    begin(options, "loaded=start\n", instrumentation);
  }

  /** Called in a running JVM, to begin or, with the option {@code detach}, to end. */
  public static void agentmain(String options, Instrumentation instrumentation) {
    begin(options, "", instrumentation);
  }

  private static void begin(String text, String fact, Instrumentation instrumentation) {
    AgentOptions options = new AgentOptions();
    Answer answer = new Answer();
    try {
      options.parse(text);
      if (options.detach) {
        Session.detach(answer);
      } else {
        Recorder.Options to = options.recorder();
        to.text = fact;
        attach(options, to, instrumentation, answer);
      }
    } catch (Throwable e) {
      answer.refuse(e);
    }
    try {
      String line = answer.give(options);
      if (!line.isEmpty()) {
        System.err.println("iostrata " + VERSION + ": " + line);
      }
    } catch (Throwable e) {
      // the one line we owe has nowhere to go
    }
  }

  private static void attach(
      AgentOptions options, Recorder.Options to, Instrumentation instrumentation, Answer answer)
      throws Exception {
    if (Agent.class.getClassLoader() != null) {
      throw new IOException("the agent's jar has been renamed: call it iostrata-agent.jar");
    }
    NativeWriter.load(instrumentation);
    Classes classes = new InstrumentedClasses(instrumentation);
    Session.attach(options, System.getenv("CONTAINER_ID"), to, classes, answer);
  }
}
