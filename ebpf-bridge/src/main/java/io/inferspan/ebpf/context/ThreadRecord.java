package io.inferspan.ebpf.context;

import io.opentelemetry.api.trace.SpanContext;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The record that the kernel reads for one thread: {@code struct ispan_own} of {@code wire.h}.
 *
 * <p>Only its own thread writes it, with plain stores. The kernel reads it while the thread is
 * inside a call or, possibly on another processor, when the thread wakes up or leaves the CPU. So
 * the owner number in the record is 0 while the ids change. Each store is one aligned word, and
 * fences keep the stores in order; on x86-64 they cost nothing and only stop the compiler from
 * reordering.
 */
final class ThreadRecord {

  static final int BYTES = 32;

  // Words of eight bytes.
  private static final int OWNER = 0;
  private static final int TRACE_ID = 1;
  private static final int SPAN_ID = 3;

  private final OwnThreads threads;
  private final Thread owner;
  private final int tid;
  private final int slot;

  /** The number of sweeps when this record was created; see {@link OwnThreads#sweep}. */
  private final int round;

  private final LongBuffer words;

  /** Avoids a call that would not be inlined; most records have no listener. */
  private final boolean hasListener;

  private final ContextSignal signal;

  /** The ids of the last two contexts, because a nested span alternates with its parent. */
  private SpanIds ids = new SpanIds();

  private SpanIds idsBefore = new SpanIds();

  /**
   * The last context whose ids were written. The ids stay in the memory while the owner number is
   * 0.
   */
  private @Nullable SpanContext written;

  /** The context that the kernel reads now. */
  private @Nullable SpanContext published;

  ThreadRecord(OwnThreads threads, Thread owner, int tid, int slot, ByteBuffer memory) {
    this.threads = threads;
    this.owner = owner;
    this.tid = tid;
    this.slot = slot;
    this.round = threads.round();
    this.hasListener = threads.listener() != null;
    this.signal = threads.signal();
    this.words = memory.order(ByteOrder.nativeOrder()).asLongBuffer();
  }

  /** Publishes the context, or clears the record if it is null. Never throws. */
  @SuppressWarnings("ReferenceEquality") // an equal one is merely written again
  void publish(@Nullable SpanContext context) {
    if (context == published || slot < 0) {
      return;
    }
    if (context == null) {
      clear();
    } else {
      set(context);
    }
  }

  @SuppressWarnings("ReferenceEquality") // an equal one is merely written again
  private void set(SpanContext context) {
    try {
      if (context != written) {
        write(context);
      }
      VarHandle.releaseFence();
      words.put(OWNER, ids.owner());
      published = context;
    } catch (RuntimeException e) {
      // The bridge and its memory were closed, or the ids are invalid.
      published = null;
      threads.failed();
      return;
    }
    if (hasListener) {
      notifyListener();
    }
    if (signal.isOn()) {
      signal.send(ids);
    }
  }

  private void notifyListener() {
    ContextListener listener = threads.listener();
    if (listener != null && published != null) {
      listener.published(tid, ids.traceIdHigh(), ids.traceIdLow(), ids.spanId());
    } else if (listener != null) {
      listener.cleared(tid);
    }
  }

  /** Selects {@link #ids} for this context. */
  private SpanIds idsOf(SpanContext context) {
    SpanIds other = idsBefore;
    idsBefore = ids;
    ids = other;
    if (!other.isOf(context)) {
      other.read(context);
    }
    return other;
  }

  private void write(SpanContext context) {
    written = null;
    words.put(OWNER, 0);
    VarHandle.storeStoreFence();
    SpanIds found = ids.isOf(context) ? ids : idsOf(context);
    words.put(TRACE_ID, bigEndian(found.traceIdHigh()));
    words.put(TRACE_ID + 1, bigEndian(found.traceIdLow()));
    words.put(SPAN_ID, bigEndian(found.spanId()));
    written = context;
  }

  /** Returns an id in big-endian order, the byte order of its text. */
  private static long bigEndian(long id) {
    return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? Long.reverseBytes(id) : id;
  }

  private void clear() {
    wipe();
    if (hasListener) {
      notifyListener();
    }
  }

  /** Clears the record unconditionally: the thread has ended, or publishing stops. */
  void wipe() {
    published = null;
    try {
      VarHandle.releaseFence();
      words.put(OWNER, 0);
    } catch (RuntimeException e) {
      threads.failed();
    }
  }

  /** Returns the context that the kernel reads now, or null. */
  @Nullable SpanContext published() {
    return published;
  }

  /**
   * Returns whether the record belongs to these threads. A record without a slot is valid until the
   * next sweep.
   */
  boolean isOf(OwnThreads others) {
    return threads == others && (slot >= 0 || round == others.round());
  }

  Thread owner() {
    return owner;
  }

  int tid() {
    return tid;
  }

  int slot() {
    return slot;
  }
}
