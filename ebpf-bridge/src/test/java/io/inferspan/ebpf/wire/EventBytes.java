package io.inferspan.ebpf.wire;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Builds the bytes of an event, as the BPF programs write them. */
public final class EventBytes {

  private final ByteBuffer bytes =
      ByteBuffer.allocate(Layout.MAX_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private int length = Layout.FIXED_BYTES;

  private EventBytes() {}

  /** Creates an event of this kind without an owner, with zero duration. */
  public static EventBytes of(Kind kind) {
    return of(kind.number());
  }

  /** Creates an event of a kind with this number, which may be unknown. */
  public static EventBytes of(int kind) {
    EventBytes event = new EventBytes();
    event.bytes.putShort(Layout.KIND, (short) kind);
    return event;
  }

  /** Sets the start and end times. */
  public EventBytes from(long startNanos, long endNanos) {
    bytes.putLong(Layout.START_NANOS, startNanos);
    bytes.putLong(Layout.END_NANOS, endNanos);
    return this;
  }

  /** Sets the owner. */
  public EventBytes under(long owner) {
    bytes.putLong(Layout.OWNER, owner);
    return this;
  }

  /** Makes it a call that a policy of this generation kept. */
  public EventBytes judged(int generation) {
    bytes.putInt(Layout.GENERATION, generation);
    length = Layout.JUDGED_BYTES;
    return this;
  }

  /** Sets the owner's ids, for its begin or end. */
  public EventBytes named(long traceIdHigh, long traceIdLow, long spanId) {
    bytes.putLong(Layout.TRACE_ID, Long.reverseBytes(traceIdHigh));
    bytes.putLong(Layout.TRACE_ID + 8, Long.reverseBytes(traceIdLow));
    bytes.putLong(Layout.SPAN_ID, Long.reverseBytes(spanId));
    length = Math.max(length, Layout.REQUEST_ID);
    return this;
  }

  /** Sets the request id. */
  public EventBytes requestId(String id) {
    byte[] written = id.getBytes(StandardCharsets.UTF_8);
    bytes.put(Layout.REQUEST_ID, written, 0, written.length);
    length = Layout.MAX_BYTES;
    return this;
  }

  /** Sets the thread. */
  public EventBytes by(int tgid, int tid) {
    bytes.putInt(Layout.TGID, tgid);
    bytes.putInt(Layout.TID, tid);
    return this;
  }

  /** Sets the source of the owner, and the flags. */
  public EventBytes known(int source, int flags) {
    bytes.put(Layout.SOURCE, (byte) source);
    bytes.put(Layout.FLAGS, (byte) flags);
    return this;
  }

  /** Sets the return value. */
  public EventBytes result(int result) {
    bytes.putInt(Layout.RESULT, result);
    return this;
  }

  /** Sets amount, detail and extra. */
  public EventBytes of(long amount, long detail, long extra) {
    bytes.putLong(Layout.AMOUNT, amount);
    bytes.putLong(Layout.DETAIL, detail);
    bytes.putLong(Layout.EXTRA, extra);
    return this;
  }

  /** Sets changes of a step's members; the record has room for sixteen. */
  public EventBytes changes(long... changes) {
    for (int i = 0; i < changes.length; i++) {
      bytes.putLong(Layout.FIXED_BYTES + i * Long.BYTES, changes[i]);
    }
    length = Layout.MAX_BYTES;
    return this;
  }

  /** Sets the text; the record has the size of the longest text, as the programs write it. */
  public EventBytes text(String text) {
    byte[] written = text.getBytes(StandardCharsets.UTF_8);
    int used = Math.min(written.length, Layout.MAX_TEXT_BYTES);
    bytes.put(Layout.FIXED_BYTES, written, 0, used);
    length = Layout.MAX_BYTES;
    return this;
  }

  /** Returns the bytes. */
  public byte[] bytes() {
    return Arrays.copyOf(bytes.array(), length);
  }

  /** Returns a view of the event. */
  public EventView view() {
    return view(bytes());
  }

  /** Returns a view of these bytes. */
  public static EventView view(byte[] bytes) {
    MemorySegment memory = Arena.ofAuto().allocate(bytes.length, Long.BYTES);
    MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
    return new EventView().over(memory).moveTo(0, bytes.length);
  }
}
