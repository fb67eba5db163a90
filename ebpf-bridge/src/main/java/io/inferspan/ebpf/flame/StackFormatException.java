package io.inferspan.ebpf.flame;

import java.io.IOException;

/** A text that is not of the format that it is read as; says where and what was expected. */
public final class StackFormatException extends IOException {

  private static final long serialVersionUID = 1L;

  /** At this line and column, both from 1 on. */
  public StackFormatException(long line, long column, String expected) {
    super("line " + line + ", column " + column + ": expected " + expected);
  }
}
