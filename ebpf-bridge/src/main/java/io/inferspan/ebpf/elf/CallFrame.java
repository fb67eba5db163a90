package io.inferspan.ebpf.elf;

/**
 * Where a function keeps its caller's address and frame pointer while it is at an instruction.
 *
 * @param offset from the stack pointer to where it was before the call; only of {@link
 *     Rule#STACK_POINTER}
 */
public record CallFrame(Rule rule, int offset) {

  /** Nothing is known. */
  public static final CallFrame UNKNOWN = new CallFrame(Rule.UNKNOWN, 0);

  /** The frame pointer is its own. */
  public static final CallFrame OWN = new CallFrame(Rule.FRAME_POINTER, 0);

  /** What leads to the caller. */
  public enum Rule {
    /** Its own frame pointer, below the caller's address. */
    FRAME_POINTER,
    /** Its stack pointer, while the frame pointer is still the caller's. */
    STACK_POINTER,
    /** What the file does not say, or what needs more than these two. */
    UNKNOWN
  }

  static CallFrame onStack(long offset) {
    boolean sane = offset >= Long.BYTES && offset <= Integer.MAX_VALUE && offset % Long.BYTES == 0;
    return sane ? new CallFrame(Rule.STACK_POINTER, (int) offset) : UNKNOWN;
  }
}
