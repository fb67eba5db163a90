package io.inferspan.ebpf.context;

import io.opentelemetry.api.trace.SpanContext;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What the kernel reads of one thread: {@code struct ispan_own} of {@code wire.h}.
 *
 * <p>Only its own thread writes it, by plain stores. The kernel looks while this thread is inside a
 * call, or from another processor when it wakes or leaves the CPU; so the record is invalid while
 * the ids change, and the order of the stores is kept: each is one aligned word, with fences
 * between them that cost nothing on most processors but hold the compiler.
 */
final class ThreadRecord {

  static final int BYTES = 32;

  // Words of eight bytes.
  private static final int VALID = 0;
  private static final int TRACE_ID = 1;
  private static final int SPAN_ID = 3;

  private final OwnThreads threads;
  private final Thread owner;
  private final int tid;
  private final int slot;
  private final int round;
  private final LongBuffer words;

  /** Most have no listener, and then even asking for it would be a call that is not inlined. */
  private final boolean heard;

  private final Doorbell bell;

  /** The last two, for a span within a span. */
  private SpanIds ids = new SpanIds();

  private SpanIds idsBefore = new SpanIds();

  /** Whose ids are in the memory, whether valid or not: most come again, and need no writing. */
  private @Nullable SpanContext written;

  /** What the kernel finds now. */
  private @Nullable SpanContext shown;

  ThreadRecord(OwnThreads threads, Thread owner, int tid, int slot, ByteBuffer memory) {
    this.threads = threads;
    this.owner = owner;
    this.tid = tid;
    this.slot = slot;
    this.round = threads.round();
    this.heard = threads.listener() != null;
    this.bell = threads.bell();
    this.words = memory.order(ByteOrder.nativeOrder()).asLongBuffer();
  }

  /**
   * Publishes the context, or nothing where it is null or this thread was refused a slot. Never
   * throws.
   */
  @SuppressWarnings("ReferenceEquality") // an equal one is written anew, which is right
  void publish(@Nullable SpanContext context) {
    if (context == shown || slot < 0) {
      return;
    }
    if (context == null) {
      clear();
    } else {
      set(context);
    }
  }

  @SuppressWarnings("ReferenceEquality") // an equal one is written anew, which is right
  private void set(SpanContext context) {
    try {
      if (context != written) {
        write(context);
      }
      VarHandle.releaseFence();
      words.put(VALID, 1);
      shown = context;
    } catch (RuntimeException e) {
      // The bridge was closed and its memory with it, or the ids are none.
      shown = null;
      threads.failed();
      return;
    }
    if (heard) {
      tell();
    }
    if (bell.isHeard()) {
      bell.ring(ids);
    }
  }

  private void tell() {
    ContextListener listener = threads.listener();
    if (listener != null && shown != null) {
      listener.published(tid, ids.traceIdHigh(), ids.traceIdLow(), ids.spanId());
    } else if (listener != null) {
      listener.cleared(tid);
    }
  }

  /** From now on {@link #ids}. */
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
    words.put(VALID, 0);
    VarHandle.storeStoreFence();
    SpanIds found = ids.isOf(context) ? ids : idsOf(context);
    words.put(TRACE_ID, inText(found.traceIdHigh()));
    words.put(TRACE_ID + 1, inText(found.traceIdLow()));
    words.put(SPAN_ID, inText(found.spanId()));
    written = context;
  }

  /** Ids lie in the order of their text, whatever the machine's order is. */
  private static long inText(long id) {
    return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? Long.reverseBytes(id) : id;
  }

  private void clear() {
    wipe();
    if (heard) {
      tell();
    }
  }

  /** Whatever it says, and whoever asks: the owner has ended, or nobody is to be told any more. */
  void wipe() {
    shown = null;
    try {
      VarHandle.releaseFence();
      words.put(VALID, 0);
    } catch (RuntimeException e) {
      threads.failed();
    }
  }

  /** What the kernel finds now, or null. */
  @Nullable SpanContext shown() {
    return shown;
  }

  /** Whether it is the thread's record there; one without a slot is so for a while. */
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
