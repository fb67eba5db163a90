package io.inferspan.ebpf.wire;

/** What the amount of an event counts. */
public enum Amount {
  NONE,
  BYTES,
  ELEMENTS,
  /** Blocks of a launch's grid. */
  BLOCKS
}
