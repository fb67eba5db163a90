package io.inferspan.ebpf.elf;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;

/** The unwind entry of one function: a program of DWARF call frame instructions. */
final class CallFrameProgram {

  // DWARF register numbers.
  private static final int FRAME_POINTER = 6;
  private static final int STACK_POINTER = 7;
  private static final int FRAME_POINTER_OF_ARM = 29;
  private static final int LINK_OF_ARM = 30;

  /**
   * The maximum number of bytes between the instruction that saves a frame pointer and the one that
   * sets it; compilers may move other instructions between the two.
   */
  private static final int SET_UP_BYTES = 32;

  /** Stands for an expression in place of a register. */
  private static final int EXPRESSION = -1;

  /** DWARF operations that push the frame pointer or the stack pointer plus an offset. */
  private static final int PUSH_FRAME_POINTER = 0x76;

  private static final int PUSH_STACK_POINTER = 0x77;
  private static final long NOT_SAVED = Long.MIN_VALUE;
  private static final long UNKNOWN = Long.MIN_VALUE + 1;
  private static final int MAX_STATES = 64;
  private static final int FOUR_BYTES = 0xb;

  private final ByteBuffer bytes;
  private final Code code;
  private final int begin;
  private final int end;
  private final int commonBegin;
  private final int commonEnd;
  private final long length;
  private long codeAlignment;
  private long dataAlignment;
  private boolean signalFrame;
  private int pointerBytes = Long.BYTES;

  /**
   * The code location that the program has reached, and the one at which the link register was
   * saved.
   */
  private long at;

  private long linkSaved;
  private State state = new State(EXPRESSION, 0, NOT_SAVED, NOT_SAVED);
  private State initial = state;
  private final Deque<State> remembered = new ArrayDeque<>();

  /**
   * The unwind rules at an instruction.
   *
   * @param register the base of the canonical frame address (CFA)
   * @param offset the distance of the CFA from the register; the first operation of an expression
   * @param framePointerAt the offset from the CFA at which the caller's frame pointer is saved
   * @param linkAt on AArch64, the offset from the CFA at which the caller's address is saved
   */
  private record State(int register, long offset, long framePointerAt, long linkAt) {

    State withFrame(int register, long offset) {
      return new State(register, offset, framePointerAt, linkAt);
    }
  }

  /** The kind of code that a table describes. */
  enum Code {
    X86,
    GO_ON_X86,
    ARM
  }

  CallFrameProgram(ByteBuffer table, int entry, Code code) {
    this.bytes = table.duplicate().order(table.order());
    this.code = code;
    boolean go = code == Code.GO_ON_X86;
    this.end = entry + 4 + bytes.getInt(entry);
    int link = bytes.getInt(entry + 4);
    int common = go ? link : entry + 4 - link;
    this.commonEnd = common + 4 + bytes.getInt(common);
    this.commonBegin = readCommon(common);
    bytes.position(entry + 8 + pointerBytes);
    this.length = pointerBytes == Long.BYTES ? bytes.getLong() : bytes.getInt();
    this.begin = go ? bytes.position() : afterCounted();
  }

  private int readCommon(int common) {
    bytes.position(common + 9);
    StringBuilder augmentation = new StringBuilder();
    for (int c = bytes.get(); c != 0; c = bytes.get()) {
      augmentation.append((char) c);
    }
    codeAlignment = unsigned();
    dataAlignment = signed();
    skip(1); // the register of the return address
    if (augmentation.isEmpty()) {
      return bytes.position();
    }
    int after = bytes.position();
    int data = (int) unsigned() + bytes.position();
    for (int i = 1; i < augmentation.length(); i++) {
      switch (augmentation.charAt(i)) {
        case 'R' -> pointerBytes = pointerBytes(bytes.get());
        case 'L' -> skip(1);
        case 'P' -> skip(pointerBytes(bytes.get()));
        case 'S' -> signalFrame = true;
        default -> throw new IllegalArgumentException("unknown augmentation before byte " + after);
      }
    }
    return data;
  }

  private static int pointerBytes(int encoding) {
    return (encoding & 0xf) == FOUR_BYTES ? Integer.BYTES : Long.BYTES;
  }

  private int afterCounted() {
    int count = (int) unsigned();
    return bytes.position() + count;
  }

  boolean holds(long offset) {
    return offset >= 0 && offset < length;
  }

  /** Returns the frame at an instruction of the function. */
  CallFrame at(long offset, Instruction instruction) {
    run(commonBegin, commonEnd, Long.MAX_VALUE);
    initial = state;
    run(begin, end, offset);
    if (signalFrame) {
      return CallFrame.UNKNOWN;
    }
    if (code == Code.ARM) {
      return onArm(offset, instruction);
    }
    if (isExpression(PUSH_FRAME_POINTER)) {
      return CallFrame.OWN;
    }
    if (state.register() == FRAME_POINTER) {
      return state.offset() == 2 * Long.BYTES ? CallFrame.OWN : CallFrame.UNKNOWN;
    }
    if (isExpression(PUSH_STACK_POINTER)) { // an entry of the procedure linkage table
      return CallFrame.onStack(instruction.hasPushedNumber() ? 2 * Long.BYTES : Long.BYTES);
    }
    if (state.register() != STACK_POINTER) {
      return CallFrame.UNKNOWN;
    }
    return code == Code.GO_ON_X86 ? inGo(instruction) : onStack(instruction);
  }

  /**
   * Returns the frame on AArch64, which is known after the frame pointer was saved below the return
   * address and then set.
   */
  private CallFrame onArm(long offset, Instruction instruction) {
    boolean saved =
        state.framePointerAt() > UNKNOWN && state.linkAt() == state.framePointerAt() + Long.BYTES;
    boolean set =
        instruction.isCall()
            || state.register() == FRAME_POINTER_OF_ARM
            || offset - linkSaved >= SET_UP_BYTES;
    return saved && set ? CallFrame.OWN : CallFrame.UNKNOWN;
  }

  private boolean isExpression(int first) {
    return state.register() == EXPRESSION && state.offset() == first;
  }

  /**
   * Returns the frame relative to the stack pointer, if the frame pointer is still the caller's. A
   * frame pointer that was saved below the stack pointer has already been restored.
   */
  private CallFrame onStack(Instruction instruction) {
    boolean callers =
        state.framePointerAt() == NOT_SAVED
            || (state.framePointerAt() != UNKNOWN && -state.framePointerAt() > state.offset())
            || instruction.movesFramePointer();
    return callers ? CallFrame.onStack(state.offset()) : CallFrame.UNKNOWN;
  }

  /**
   * Returns the frame of a Go function. If it has a frame, it also has a frame pointer, which its
   * table does not describe.
   */
  private CallFrame inGo(Instruction instruction) {
    if (state.offset() == Long.BYTES || instruction.movesFramePointer()) {
      return CallFrame.onStack(state.offset());
    }
    return instruction.isWithinGoFrame() ? CallFrame.onStack(state.offset()) : CallFrame.OWN;
  }

  private void run(int from, int to, long offset) {
    bytes.position(from);
    at = 0;
    while (bytes.position() < to) {
      int next = Byte.toUnsignedInt(bytes.get());
      int low = next & 0x3f;
      switch (next >>> 6) {
        case 1 -> at += low * codeAlignment;
        case 2 -> save(low, unsigned() * dataAlignment);
        case 3 -> restore(low);
        default -> at += extended(low);
      }
      if (at > offset) {
        return;
      }
    }
  }

  /**
   * Runs an instruction without an operand in its first byte; returns the number of bytes by which
   * the location advances.
   */
  private long extended(int code) {
    switch (code) {
      case 0x00 -> {}
      case 0x02 -> {
        return Byte.toUnsignedLong(bytes.get()) * codeAlignment;
      }
      case 0x03 -> {
        return Short.toUnsignedLong(bytes.getShort()) * codeAlignment;
      }
      case 0x04 -> {
        return Integer.toUnsignedLong(bytes.getInt()) * codeAlignment;
      }
      case 0x0a -> remember();
      case 0x0b -> state = Objects.requireNonNullElse(remembered.poll(), initial);
      case 0x0c -> state = state.withFrame((int) unsigned(), unsigned());
      case 0x0d -> state = state.withFrame((int) unsigned(), state.offset());
      case 0x0e -> state = state.withFrame(state.register(), unsigned());
      case 0x0f -> state = expression();
      case 0x12 -> state = state.withFrame((int) unsigned(), signed() * dataAlignment);
      case 0x13 -> state = state.withFrame(state.register(), signed() * dataAlignment);
      case 0x2d -> {} // on AArch64, whether the caller's address is signed
      case 0x2e -> unsigned();
      default -> registerRule(code);
    }
    return 0;
  }

  private void registerRule(int code) {
    int register = (int) unsigned();
    switch (code) {
      case 0x05 -> save(register, unsigned() * dataAlignment);
      case 0x06 -> restore(register);
      case 0x08 -> save(register, NOT_SAVED);
      case 0x11 -> save(register, signed() * dataAlignment);
      case 0x07 -> save(register, UNKNOWN);
      case 0x09, 0x14, 0x15 -> {
        unsigned();
        save(register, UNKNOWN);
      }
      case 0x10, 0x16 -> {
        bytes.position(afterCounted());
        save(register, UNKNOWN);
      }
      default -> throw new IllegalArgumentException("unknown call frame instruction " + code);
    }
  }

  private void remember() {
    if (remembered.size() == MAX_STATES) {
      throw new IllegalArgumentException("more than " + MAX_STATES + " remembered states");
    }
    remembered.push(state);
  }

  private State expression() {
    int after = afterCounted();
    int first = Byte.toUnsignedInt(bytes.get(bytes.position()));
    bytes.position(after);
    return state.withFrame(EXPRESSION, first);
  }

  private void save(int register, long where) {
    if (register == (code == Code.ARM ? FRAME_POINTER_OF_ARM : FRAME_POINTER)) {
      state = new State(state.register(), state.offset(), where, state.linkAt());
    } else if (register == LINK_OF_ARM) {
      linkSaved = at;
      state = new State(state.register(), state.offset(), state.framePointerAt(), where);
    }
  }

  private void restore(int register) {
    save(register, register == LINK_OF_ARM ? initial.linkAt() : initial.framePointerAt());
  }

  private void skip(int count) {
    bytes.position(bytes.position() + count);
  }

  private long unsigned() {
    long value = 0;
    int shift = 0;
    byte next;
    do {
      next = bytes.get();
      value |= (long) (next & 0x7f) << shift;
      shift += 7;
    } while (next < 0 && shift < Long.SIZE);
    return value;
  }

  private long signed() {
    int begin = bytes.position();
    long value = unsigned();
    int bits = 7 * (bytes.position() - begin);
    return bits >= Long.SIZE ? value : value << (Long.SIZE - bits) >> (Long.SIZE - bits);
  }
}
