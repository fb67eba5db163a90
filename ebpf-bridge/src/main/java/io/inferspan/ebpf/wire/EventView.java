package io.inferspan.ebpf.wire;

import static io.inferspan.ebpf.linux.Memory.EVERYWHERE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Reads one event where it lies; moved from event to event, so that none costs an object.
 *
 * <p>Fields may only be read where {@link #isWhole()}. That they are in the memory is looked at
 * once for all of them, when the view is moved; that it is still there is the caller's to know.
 */
public final class EventView {

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

  /** Held, since some memory lasts as long as somebody does. */
  @SuppressWarnings("UnusedVariable")
  private MemorySegment memory = MemorySegment.NULL;

  private long base;
  private long limit;
  private long at;
  private int length;

  /** Creates a view of nothing. */
  public EventView() {}

  /** Shows native memory from now on. */
  public EventView over(MemorySegment memory) {
    if (!memory.isNative()) {
      throw new IllegalArgumentException("An event is read from native memory");
    }
    this.memory = memory;
    this.base = memory.address();
    this.limit = memory.byteSize();
    return moveTo(0, 0);
  }

  /** Moves to {@code length} bytes at {@code offset}, which is a multiple of eight. */
  public EventView moveTo(long offset, int length) {
    if (offset < 0 || length < 0 || offset > limit - length) {
      throw new IndexOutOfBoundsException("an event beyond its memory");
    }
    this.at = base + offset;
    this.length = length;
    return this;
  }

  /** Whether the record has all fields, no more text than fits, and times that can be. */
  public boolean isWhole() {
    return length >= Layout.FIXED_BYTES
        && length <= Layout.MAX_BYTES
        && startNanos() >= 0
        && startNanos() <= endNanos();
  }

  /** Whether the event says whose it is. */
  public boolean hasContext() {
    return (traceIdHigh() | traceIdLow()) != 0 && spanId() != 0;
  }

  /** When it began, on CLOCK_MONOTONIC. */
  public long startNanos() {
    return EVERYWHERE.get(LONG, at + Layout.START_NANOS);
  }

  /** When it ended, on CLOCK_MONOTONIC. */
  public long endNanos() {
    return EVERYWHERE.get(LONG, at + Layout.END_NANOS);
  }

  /** The first half of the trace id, as a number whose hexadecimal form is the text's. */
  public long traceIdHigh() {
    return Long.reverseBytes(EVERYWHERE.get(LONG, at + Layout.TRACE_ID));
  }

  /** The second half of the trace id. */
  public long traceIdLow() {
    return Long.reverseBytes(EVERYWHERE.get(LONG, at + Layout.TRACE_ID + Long.BYTES));
  }

  /** The id of the parent span. */
  public long spanId() {
    return Long.reverseBytes(EVERYWHERE.get(LONG, at + Layout.SPAN_ID));
  }

  /** The process. */
  public int tgid() {
    return EVERYWHERE.get(INT, at + Layout.TGID);
  }

  /** The thread. */
  public int tid() {
    return EVERYWHERE.get(INT, at + Layout.TID);
  }

  /** The number of the kind; see {@link Kind#of}. */
  public int kind() {
    return Short.toUnsignedInt(EVERYWHERE.get(SHORT, at + Layout.KIND));
  }

  /** How the context was known; see {@link Source#of}. */
  public int source() {
    return Byte.toUnsignedInt(EVERYWHERE.get(BYTE, at + Layout.SOURCE));
  }

  /** Whether the text is only the beginning of what there was. */
  public boolean isTextCut() {
    return (EVERYWHERE.get(BYTE, at + Layout.FLAGS) & Layout.FLAG_TEXT_CUT) != 0;
  }

  /** What the call returned. */
  public int result() {
    return EVERYWHERE.get(INT, at + Layout.RESULT);
  }

  /** Bytes or elements, as the kind says. */
  public long amount() {
    return EVERYWHERE.get(LONG, at + Layout.AMOUNT);
  }

  /** Stream, descriptor, type or state, as the kind says. */
  public long detail() {
    return EVERYWHERE.get(LONG, at + Layout.DETAIL);
  }

  /** Communicator, device or request number, as the kind says. */
  public long extra() {
    return EVERYWHERE.get(LONG, at + Layout.EXTRA);
  }

  /** Bytes of text, without the NUL and what follows it. */
  public int textLength() {
    int bytes = length - Layout.FIXED_BYTES;
    for (int i = 0; i < bytes; i++) {
      if (textByte(i) == 0) {
        return i;
      }
    }
    return Math.max(bytes, 0);
  }

  /** A number for the text: equal for equal texts, and in practice different for others. */
  public long textHash() {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0, length = textLength(); i < length; i++) {
      hash = (hash ^ textByte(i)) * 0x100000001b3L;
    }
    return hash;
  }

  /** The byte at {@code index} of the text. */
  public byte textByte(int index) {
    return EVERYWHERE.get(BYTE, at + Layout.FIXED_BYTES + index);
  }

  /** The text; what is not UTF-8 in it, or was cut in the middle, becomes the replacement mark. */
  public String text() {
    byte[] bytes = new byte[textLength()];
    MemorySegment.copy(EVERYWHERE, BYTE, at + Layout.FIXED_BYTES, bytes, 0, bytes.length);
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
