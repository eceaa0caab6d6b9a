package io.iostrata.agent;

import io.iostrata.segment.Schema;

/** One traced method: a row of the point table. docs/add-a-point.md explains the fields. */
final class Point {
  static final int FIELDS = 18;

  final int id;
  final byte layer;
  final String op;
  final String internalName;
  final String method;
  final String descriptor;
  final boolean counted;

  /** Counted only, and a call that returns false is none: no record was there. */
  final boolean record;

  /** Of ours, and runs for each record of a job: woven only where these are asked for. */
  final boolean countsRecords;

  /** Counted only, and all that is counted is known when the call begins. */
  final boolean countedAtEntry;

  /** No row: it only tells or changes something. */
  final boolean effectOnly;

  /** The effect comes when the method begins, not when it returns. */
  final boolean before;

  final boolean replaces;

  /** Not woven: the agent itself makes its rows. */
  final boolean own;

  final boolean scope;
  final boolean begin;

  final Value bytes;

  /** What works the bytes out when the method returns; null when `bytes` says them. */
  final Extraction measure;

  final Value asked;
  final Value offset;
  final Extraction target;
  final Extraction context;
  final Extraction effect;

  /** The stream that the calls may only pass on to, see {@link PassingStreams}; null: none. */
  final Value through;

  /**
   * @param row the {@link #FIELDS} fields of schema/generate.py's POINT_FIELDS, in that order
   */
  Point(String[] row) {
    id = Integer.parseInt(row[0]);
    layer = Layers.code(row[1]);
    op = row[2];
    internalName = row[3].replace('.', '/');
    method = row[4];
    descriptor = row[5];
    record = row[6].equals("record");
    counted = record || row[6].equals("counted");
    boolean ours = id < Schema.PROCESS_FIRST_USER_POINT;
    countsRecords = ours && counted && layer == Schema.LAYER_RECORD;
    own = row[6].equals("own");
    replaces = row[6].equals("replace");
    before = row[6].equals("before");
    effectOnly = replaces || before || row[6].equals("effect");
    scope = row[7].equals("1");
    begin = row[8].equals("1");
    measure = Value.isNumber(row[9]) ? null : Extraction.parse(row[9]);
    bytes = measure == null ? Value.parse(row[9]) : null;
    asked = Value.parse(row[10]);
    offset = Value.parse(row[11]);
    target = Extraction.parse(row[12]);
    context = Extraction.parse(row[13]);
    effect = Extraction.parse(row[14]);
    through = Value.parse(row[17]);
    boolean later = measure != null || bytes != null && (bytes.atExit() || bytes.isInside());
    countedAtEntry = counted && !record && !later;
  }
}
