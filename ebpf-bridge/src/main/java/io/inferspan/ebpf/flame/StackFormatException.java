package io.inferspan.ebpf.flame;

import java.io.IOException;

/**
 * Thrown if a file of stacks, calls or requests is malformed. The message states the position and
 * what was expected there.
 */
public final class StackFormatException extends IOException {

  private static final long serialVersionUID = 1L;

  /** Creates an exception for this line and column, which are counted from 1. */
  public StackFormatException(long line, long column, String expected) {
    super("line " + line + ", column " + column + ": expected " + expected);
  }
}
