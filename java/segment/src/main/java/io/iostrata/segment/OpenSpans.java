package io.iostrata.segment;

import java.util.Arrays;

/** The open spans of a thread; the header of its segment mirrors them. */
final class OpenSpans {
  int depth;

  /** Those of them that are kept one by one, as the segment's header mirrors them. */
  int kept;

  private OpenSpan[] levels = {new OpenSpan(null)};

  /** The level above the top, to be filled; `depth` says when it counts. */
  OpenSpan next() {
    return depth < levels.length ? levels[depth] : grow();
  }

  /** The innermost open span; there must be one. */
  OpenSpan top() {
    return levels[depth - 1];
  }

  private OpenSpan grow() {
    int from = levels.length;
    OpenSpan[] more = Arrays.copyOf(levels, from * 2);
    for (int d = from; d < more.length; d++) {
      more[d] = new OpenSpan(more[d - 1]);
    }
    levels = more;
    return more[from];
  }

  /** Tells a new segment what is open; gives ids to spans that began while there was none. */
  void moveTo(Segment segment) {
    int mirrored = 0;
    for (int d = 0; d < depth; d++) {
      OpenSpan open = levels[d];
      long above = open.below == null ? 0 : open.below.span;
      if (!open.kept) {
        open.span = above;
        continue;
      }
      if (open.span == 0) {
        open.span = ++segment.span;
        open.parent = above;
      }
      segment.open(mirrored++, open.span, open.start, open.parent, open.mirrored());
    }
  }
}
