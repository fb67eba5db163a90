package io.inferspan.ebpf.elf;

import java.util.HexFormat;

/**
 * The next instruction of a stack frame. On x86-64, the code around it shows whether the frame is
 * set up; on AArch64 the code is not read.
 */
public final class Instruction {

  private static final String MOVE = "48(89e5|8bec).*";
  private static final String GO_SETS_UP = "48(89|8d)(6c24|ac24).*";
  private static final String TAKE_DOWN = "48(83|81)c4.*";

  private final long address;
  private final String before;
  private final String next;

  private Instruction(long address, String before, String next) {
    this.address = address;
    this.before = before;
    this.next = next;
  }

  /**
   * Returns the instruction at an address.
   *
   * @param before the eight bytes of code before it, little-endian
   * @param next the eight bytes from it on
   */
  public static Instruction next(long address, long before, long next) {
    return new Instruction(address, hex(before), hex(next));
  }

  /** Returns the call instruction that returns to an address. */
  public static Instruction call(long returnAddress) {
    return new Instruction(returnAddress - 1, "", "");
  }

  private static String hex(long bytes) {
    return HexFormat.of().toHexDigits(Long.reverseBytes(bytes));
  }

  /** Returns its address, or that of one of its bytes. */
  public long address() {
    return address;
  }

  /** Returns whether it is a call; the frame is set up then. */
  boolean isCall() {
    return next.isEmpty();
  }

  /** Returns whether an entry of the procedure linkage table has pushed its number. */
  boolean hasPushedNumber() {
    return (address & 15) >= 11;
  }

  /** Returns whether the caller's frame pointer was just pushed, and is still in the register. */
  boolean movesFramePointer() {
    return before.endsWith("55") && next.matches(MOVE);
  }

  /**
   * Returns whether it is in a prologue or epilogue of a Go function, where the frame exists but
   * its frame pointer is not set.
   */
  boolean isWithinGoFrame() {
    return next.matches(GO_SETS_UP)
        || (next.matches(TAKE_DOWN) && before.matches(".*48(8b6c24..|8bac24.{8})"));
  }

  /**
   * Returns the frame of code that a runtime compiled, which has a frame pointer except at its
   * first and last instructions; unknown if the code was not read.
   */
  public CallFrame ofCompiledCode() {
    if ((before + next).matches("0+")) {
      return CallFrame.UNKNOWN;
    }
    if (movesFramePointer()) {
      return CallFrame.onStack(2 * Long.BYTES);
    }
    boolean begins = next.startsWith("55") || next.matches("898424....f[ef]ff.*");
    boolean ends = next.matches("c[23].*") || before.matches(".*5d(493b67..)?");
    return begins || ends ? CallFrame.onStack(Long.BYTES) : CallFrame.OWN;
  }
}
