package io.inferspan.ebpf.wire;

import static io.inferspan.ebpf.linux.Memory.EVERYWHERE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Reads events in place. One view moves from event to event, so that no objects are allocated.
 *
 * <p>Read fields only if {@link #isWhole()}. Moving the view checks that all fields are inside the
 * memory; the caller must know that it is still mapped.
 */
public final class EventView {

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

  /** Kept because some memory is freed with its segment. */
  @SuppressWarnings("UnusedVariable")
  private MemorySegment memory = MemorySegment.NULL;

  private long base;
  private long limit;
  private long at;
  private int length;

  /** Creates a view without memory. */
  public EventView() {}

  /** Sets the native memory to read. */
  public EventView over(MemorySegment memory) {
    if (!memory.isNative()) {
      throw new IllegalArgumentException("events can be read only from native memory");
    }
    this.memory = memory;
    this.base = memory.address();
    this.limit = memory.byteSize();
    return moveTo(0, 0);
  }

  /** Moves to {@code length} bytes at {@code offset}, which must be a multiple of eight. */
  public EventView moveTo(long offset, int length) {
    if (offset < 0 || length < 0 || offset > limit - length) {
      throw new IndexOutOfBoundsException("the event does not lie within the memory");
    }
    this.at = base + offset;
    this.length = length;
    return this;
  }

  /** Returns whether the record has the length of an event, and plausible times. */
  public boolean isWhole() {
    return length >= Layout.FIXED_BYTES
        && length <= Layout.MAX_BYTES
        && startNanos() >= 0
        && startNanos() <= endNanos();
  }

  /** Returns whether the event has an owner. */
  public boolean hasOwner() {
    return owner() != 0;
  }

  /** Returns whether the event introduces an owner, so that it has ids. */
  public boolean namesOwner() {
    return length >= Layout.REQUEST_ID
        && hasOwner()
        && (traceIdHigh() | traceIdLow()) != 0
        && spanId() != 0;
  }

  /** Returns the start time on CLOCK_MONOTONIC. */
  public long startNanos() {
    return EVERYWHERE.get(LONG, at + Layout.START_NANOS);
  }

  /** Returns the end time on CLOCK_MONOTONIC. */
  public long endNanos() {
    return EVERYWHERE.get(LONG, at + Layout.END_NANOS);
  }

  /** Returns the owner's number; zero if there is none. */
  public long owner() {
    return EVERYWHERE.get(LONG, at + Layout.OWNER);
  }

  /**
   * Returns the first half of the owner's trace id, as the number with the same hexadecimal digits.
   * This and the other ids are valid only if {@link #namesOwner()}.
   */
  public long traceIdHigh() {
    return Long.reverseBytes(EVERYWHERE.get(LONG, at + Layout.TRACE_ID));
  }

  /** Returns the second half of the trace id. */
  public long traceIdLow() {
    return Long.reverseBytes(EVERYWHERE.get(LONG, at + Layout.TRACE_ID + Long.BYTES));
  }

  /** Returns the id of the parent span. */
  public long spanId() {
    return Long.reverseBytes(EVERYWHERE.get(LONG, at + Layout.SPAN_ID));
  }

  /** Returns the pid. */
  public int tgid() {
    return EVERYWHERE.get(INT, at + Layout.TGID);
  }

  /** Returns the tid. */
  public int tid() {
    return EVERYWHERE.get(INT, at + Layout.TID);
  }

  /** Returns the number of the kind; see {@link Kind#of}. */
  public int kind() {
    return Short.toUnsignedInt(EVERYWHERE.get(SHORT, at + Layout.KIND));
  }

  /** Returns how the owner was found; see {@link Source#of}. */
  public int source() {
    return Byte.toUnsignedInt(EVERYWHERE.get(BYTE, at + Layout.SOURCE));
  }

  /** Returns whether the text is truncated. */
  public boolean isTextCut() {
    return (EVERYWHERE.get(BYTE, at + Layout.FLAGS) & Layout.FLAG_TEXT_CUT) != 0;
  }

  /** Returns the call's return value. */
  public int result() {
    return EVERYWHERE.get(INT, at + Layout.RESULT);
  }

  /** Returns the amount, in the unit of the kind; see {@link Kind#amount}. */
  public long amount() {
    return EVERYWHERE.get(LONG, at + Layout.AMOUNT);
  }

  /** Returns the detail, whose meaning depends on the kind; see {@link Detail}. */
  public long detail() {
    return EVERYWHERE.get(LONG, at + Layout.DETAIL);
  }

  /** Returns more detail, whose meaning depends on the kind; see {@link Detail}. */
  public long extra() {
    return EVERYWHERE.get(LONG, at + Layout.EXTRA);
  }

  /** Returns the generation of the policy that kept the call; zero without a policy. */
  public int generation() {
    return length == Layout.JUDGED_BYTES ? EVERYWHERE.get(INT, at + Layout.GENERATION) : 0;
  }

  /** Returns the length of the text in bytes, without the NUL. */
  public int textLength() {
    return textLength(Layout.FIXED_BYTES);
  }

  private int textLength(int from) {
    int bytes = length - from;
    for (int i = 0; i < bytes; i++) {
      if (EVERYWHERE.get(BYTE, at + from + i) == 0) {
        return i;
      }
    }
    return Math.max(bytes, 0);
  }

  /** Returns a hash of the text, which in practice differs between texts. */
  public long textHash() {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0, length = textLength(); i < length; i++) {
      hash = (hash ^ textByte(i)) * 0x100000001b3L;
    }
    return hash;
  }

  /** Returns the byte at {@code index} of the text. */
  public byte textByte(int index) {
    return EVERYWHERE.get(BYTE, at + Layout.FIXED_BYTES + index);
  }

  /**
   * Returns the text; invalid UTF-8, such as a cut character, becomes the replacement character.
   */
  public String text() {
    return text(Layout.FIXED_BYTES);
  }

  /**
   * Returns the request id in an event about a request or a slot of an engine; empty if there is
   * none.
   */
  public String requestId() {
    return text(Layout.REQUEST_ID);
  }

  /** Returns a change of a step's members; only for {@link Kind#STEP_CHANGES}. */
  public long change(int index) {
    return EVERYWHERE.get(LONG, at + Layout.FIXED_BYTES + (long) index * Long.BYTES);
  }

  /** Returns the number of changes that the record has room for. */
  public int changes() {
    return (length - Layout.FIXED_BYTES) / Long.BYTES;
  }

  private String text(int from) {
    byte[] bytes = new byte[textLength(from)];
    MemorySegment.copy(EVERYWHERE, BYTE, at + from, bytes, 0, bytes.length);
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
