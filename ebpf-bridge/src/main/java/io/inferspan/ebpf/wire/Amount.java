package io.inferspan.ebpf.wire;

/** The unit of an event's amount. */
public enum Amount {
  NONE,
  BYTES,
  ELEMENTS,
  /** Blocks of a launch's grid. */
  BLOCKS
}
