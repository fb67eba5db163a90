package io.inferspan.ebpf.wire;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Reads one event where it lies; moved from event to event, so that none costs an object.
 *
 * <p>Fields may only be read where {@link #isWhole()}.
 */
public final class EventView {

  private ByteBuffer memory = ByteBuffer.allocate(0);
  private int offset;
  private int length;

  /** Creates a view of nothing. */
  public EventView() {}

  /** Shows {@code memory}, which is little-endian, from now on. */
  public EventView over(ByteBuffer memory) {
    this.memory = memory;
    return moveTo(0, 0);
  }

  /**
   * Moves to {@code length} bytes at {@code offset}; writes no reference, which would cost more.
   */
  public EventView moveTo(int offset, int length) {
    this.offset = offset;
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
    return memory.getLong(offset + Layout.START_NANOS);
  }

  /** When it ended, on CLOCK_MONOTONIC. */
  public long endNanos() {
    return memory.getLong(offset + Layout.END_NANOS);
  }

  /** The first half of the trace id, as a number whose hexadecimal form is the text's. */
  public long traceIdHigh() {
    return Long.reverseBytes(memory.getLong(offset + Layout.TRACE_ID));
  }

  /** The second half of the trace id. */
  public long traceIdLow() {
    return Long.reverseBytes(memory.getLong(offset + Layout.TRACE_ID + Long.BYTES));
  }

  /** The id of the parent span. */
  public long spanId() {
    return Long.reverseBytes(memory.getLong(offset + Layout.SPAN_ID));
  }

  /** The process. */
  public int tgid() {
    return memory.getInt(offset + Layout.TGID);
  }

  /** The thread. */
  public int tid() {
    return memory.getInt(offset + Layout.TID);
  }

  /** The number of the kind; see {@link Kind#of}. */
  public int kind() {
    return Short.toUnsignedInt(memory.getShort(offset + Layout.KIND));
  }

  /** How the context was known; see {@link Source#of}. */
  public int source() {
    return Byte.toUnsignedInt(memory.get(offset + Layout.SOURCE));
  }

  /** The {@code FLAG_*} of {@link Layout} that are set. */
  public int flags() {
    return Byte.toUnsignedInt(memory.get(offset + Layout.FLAGS));
  }

  /** What the call returned. */
  public int result() {
    return memory.getInt(offset + Layout.RESULT);
  }

  /** Bytes or elements, as the kind says. */
  public long amount() {
    return memory.getLong(offset + Layout.AMOUNT);
  }

  /** Stream, descriptor, type or state, as the kind says. */
  public long detail() {
    return memory.getLong(offset + Layout.DETAIL);
  }

  /** Communicator, device or request number, as the kind says. */
  public long extra() {
    return memory.getLong(offset + Layout.EXTRA);
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
    return memory.get(offset + Layout.FIXED_BYTES + index);
  }

  /** The text; what is not UTF-8 in it, or was cut in the middle, becomes the replacement mark. */
  public String text() {
    byte[] bytes = new byte[textLength()];
    memory.get(offset + Layout.FIXED_BYTES, bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** Copies the event to {@code target} and says how long it is. */
  public int copyTo(byte[] target) {
    int bytes = Math.min(length, target.length);
    memory.get(offset, target, 0, bytes);
    return bytes;
  }
}
