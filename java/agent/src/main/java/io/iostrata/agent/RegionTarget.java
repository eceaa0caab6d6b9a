package io.iostrata.agent;

import io.iostrata.segment.Schema;

/**
 * {@code region(what)}: a region of HBase as TABLE/ENCODED_NAME; of a request, of what serves it,
 * or of an entry of the WAL. Of a list of actions it is that of the first; a request that names a
 * scanner names no region. A client knows the table alone.
 */
final class RegionTarget extends Extractor {
  private static final Getter INFO = new Getter("getRegionInfo");
  private static final Getter TABLE = new Getter("getTable");
  private static final Getter NAME = new Getter("getNameAsString");
  private static final Getter ENCODED = new Getter("getEncodedName");
  private static final FieldOf HELD = new FieldOf("r");
  private static final Getter ACTIONS = new Getter("getRegionActionCount");
  private static final Getter ACTION = new Getter("getRegionAction", int.class);
  private static final Getter HAS = new Getter("hasRegion");
  private static final Getter REGION = new Getter("getRegion");
  private static final Getter VALUE = new Getter("getValue");
  private static final Getter TEXT = new Getter("toStringUtf8");

  @Override
  long of(Probe probe, Object what, Object unused) throws Throwable {
    if (what == null) {
      return 0;
    }
    String type = what.getClass().getName();
    if (type.endsWith("Request")) {
      return ofRequest(probe, what, type);
    }
    if (type.endsWith(".TableName")) {
      return named(probe, (String) NAME.of(what));
    }
    Object serves = type.endsWith("$RegionScannerHolder") ? HELD.of(what) : what;
    Object info = INFO.of(serves);
    long handle = probe.regions.get(info);
    if (handle == NameCache.ABSENT) {
      handle = named(probe, NAME.of(TABLE.of(info)) + "/" + ENCODED.of(info));
      probe.regions.put(info, handle);
    }
    return handle;
  }

  private static long ofRequest(Probe probe, Object request, String type) throws Throwable {
    Object names = request;
    if (type.endsWith("$MultiRequest")) {
      if ((Integer) ACTIONS.of(request) == 0) {
        return 0;
      }
      names = ACTION.of(request, 0);
    }
    if (!(Boolean) HAS.of(names)) {
      return 0;
    }
    return named(probe, shortened((String) TEXT.of(VALUE.of(REGION.of(names)))));
  }

  /** TABLE,START,NUMBER.ENCODED. as TABLE/ENCODED; hbase:meta,,1 is as it was first encoded. */
  static String shortened(String name) {
    int table = name.indexOf(',');
    int end = name.length() - 1;
    if (table < 0) {
      return name;
    }
    boolean encoded = name.charAt(end) == '.';
    return name.substring(0, table)
        + "/"
        + (encoded ? name.substring(name.lastIndexOf('.', end - 1) + 1, end) : "1588230740");
  }

  private static long named(Probe probe, String name) {
    long handle = probe.regionNames.get(name);
    if (handle == NameCache.ABSENT) {
      handle = Hooks.recorder.name(Schema.CATEGORY_REGION, name);
      probe.regionNames.put(name, handle);
    }
    return handle;
  }
}
