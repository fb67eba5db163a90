package io.inferspan.ebpf.elf;

/**
 * The location of a function's return address and of its caller's frame pointer at an instruction.
 *
 * @param offset the distance from the stack pointer to its value before the call; only for {@link
 *     Rule#STACK_POINTER}
 */
public record CallFrame(Rule rule, int offset) {

  /** An unknown frame. */
  public static final CallFrame UNKNOWN = new CallFrame(Rule.UNKNOWN, 0);

  /** A frame with a frame pointer of its own. */
  public static final CallFrame OWN = new CallFrame(Rule.FRAME_POINTER, 0);

  /** The register from which the caller is found. */
  public enum Rule {
    /** The function's frame pointer, which is saved below the return address. */
    FRAME_POINTER,
    /** The stack pointer, while the frame pointer is still the caller's. */
    STACK_POINTER,
    /** Not described by the file, or more complex than the other two. */
    UNKNOWN
  }

  static CallFrame onStack(long offset) {
    boolean sane = offset >= Long.BYTES && offset <= Integer.MAX_VALUE && offset % Long.BYTES == 0;
    return sane ? new CallFrame(Rule.STACK_POINTER, (int) offset) : UNKNOWN;
  }
}
