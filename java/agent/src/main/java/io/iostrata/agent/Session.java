package io.iostrata.agent;

import io.iostrata.segment.ProcessFacts;
import io.iostrata.segment.Recorder;
import io.iostrata.segment.SystemThreads;
import java.io.IOException;
import java.util.concurrent.Callable;

/** The agent in this JVM, from attach to detach. */
final class Session {
  /** Hooks that began before the end was declared take less, unless the machine stands still. */
  private static final long UNDER_WAY_MILLIS = 50;

  /** Long enough for what a thread says of itself to reach all others. */
  private static final long INSIDE_MILLIS = 10;

  private final Recorder recorder;
  private final Loader loader;
  private final Classes classes;
  private final ControlWatch watch;
  private boolean ended;

  private Session(Recorder recorder, Loader loader, Classes classes) {
    this.recorder = recorder;
    this.loader = loader;
    this.classes = classes;
    watch = new ControlWatch(recorder, this);
  }

  /**
   * Starts the agent, whichever way it came in.
   *
   * @param container {@code CONTAINER_ID} of YARN; null when there is none
   * @param to what is known of this process; its text is added to
   */
  static void attach(
      AgentOptions options, String container, Recorder.Options to, Classes classes, Answer answer)
      throws Exception {
    Thread living = SystemThreads.agent();
    if (Hooks.recorder != null || living != null) {
      String other = living == null ? "" : ", " + living.getClass().getName();
      throw new IOException("this JVM has an agent already" + other);
    }
    ProcessFacts facts =
        new ProcessFacts(System.getProperty("sun.java.command"), options.run, container);
    to.text = facts.text(Agent.VERSION) + to.text;
    LocalName.begin();
    Recorder recorder = Recorder.open(to);
    recorder.points(PointCodes.install());
    Hooks.recorder = recorder;
    Hooks.clockCost = recorder.clockCost;
    ProcessFacts.current = facts;
    facts.reach(recorder, "");
    Loader loader = new Loader(recorder);
    // Only now: from here on the JVM reads the file of each class that its own archive has.
    loader.begin(classes);
    answer.fact("classes", loader.weaveLoaded(classes));
    answer.fact("failed", loader.failures());
    Session session = new Session(recorder, loader, classes);
    boolean recording = session.watch.look();
    session.watch.start();
    answer.fact("woven", loader.woven());
    answer.line(recording ? "recording to " + options.dir : "ready in " + options.dir + ", off");
  }

  /** Ends the agent of this JVM; that there is none is no fault. */
  static void detach(Answer answer) throws Exception {
    Thread living = SystemThreads.agent();
    if (living == null) {
      answer.fact("detached", "no");
      answer.line("no agent is attached");
      return;
    }
    answer.facts((String) ((Callable<?>) living).call());
    answer.line("detached");
  }

  /**
   * Hooks off, methods as they were, recording closed. Once; again it does nothing.
   *
   * @return key=value lines
   */
  synchronized String end() throws Exception {
    Answer answer = new Answer();
    if (!ended) {
      ended = true;
      Hooks.off();
      watch.end();
      answer.fact("classes", loader.weaveOut(classes));
      answer.fact("failed", loader.failures());
      Thread.sleep(UNDER_WAY_MILLIS);
      watch.endRecording();
      recorder.stop();
      Thread.sleep(INSIDE_MILLIS);
      recorder.detach();
      Hooks.forget();
    }
    answer.fact("detached", "yes");
    return answer.facts();
  }

  Loader loader() {
    return loader;
  }

  Classes classes() {
    return classes;
  }
}
