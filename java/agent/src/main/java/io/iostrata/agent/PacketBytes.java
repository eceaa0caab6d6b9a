package io.iostrata.agent;

/** {@code packet(packet)}: bytes of data in a DFSPacket, without header and checksums. */
final class PacketBytes extends Extractor {
  private static final FieldOf START = new FieldOf("dataStart");
  private static final FieldOf END = new FieldOf("dataPos");

  @Override
  long of(Probe probe, Object packet, Object unused) throws Throwable {
    return packet == null ? 0 : END.intOf(packet) - START.intOf(packet);
  }
}
