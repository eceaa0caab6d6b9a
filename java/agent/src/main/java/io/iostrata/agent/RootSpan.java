package io.iostrata.agent;

import io.iostrata.segment.ProcessFacts;
import io.iostrata.segment.Recorder;
import io.iostrata.segment.ThreadLog;

/**
 * The span of the process as a whole, from the start of a recording to its end: what all calls hang
 * from that nothing encloses. Kept open by the agent's own thread, so that a kill leaves it
 * unfinished.
 */
final class RootSpan {
  /** Id of the point {@code task.process}. */
  private static final int POINT = 190;

  private final Recorder recorder;
  private ThreadLog log;
  private boolean open;
  private boolean ended;

  RootSpan(Recorder recorder) {
    this.recorder = recorder;
  }

  /** Called by the agent's own thread only. */
  synchronized void follow(boolean recording) {
    if (recording == open || ended) {
      return;
    }
    if (log == null) {
      log = recorder.thread();
    }
    if (recording) {
      log.enter(POINT, recorder.name(0, ProcessFacts.current.main), 0, -1, 0);
    } else {
      log.exit(POINT, 0);
    }
    open = recording;
  }

  /** The process ends, in whatever thread that is noticed; the agent's own never returns to it. */
  synchronized void end() {
    follow(false);
    ended = true;
  }
}
