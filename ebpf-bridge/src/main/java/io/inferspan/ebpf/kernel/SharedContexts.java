package io.inferspan.ebpf.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.inferspan.ebpf.context.ContextListener;
import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.libbpf.loaded.PinnedMap;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The map through which OpenTelemetry's eBPF tools share the current span of each thread.
 *
 * <p>Its key is the pid and the tid, its value the trace and span ids. The first tool that needs
 * the map creates it, and it persists. This class writes the entries of this process's threads; the
 * bridge's BPF programs write those of requests that they recognise. The bridge removes these
 * entries when it stops, and, when it starts, all entries of threads that no longer exist.
 */
public final class SharedContexts implements ContextListener, AutoCloseable {

  static final String NAME = "traces_ctx_v1";

  private static final PinnedMap.Shape SHAPE = new PinnedMap.Shape(NAME, 9, 8, 24, 1 << 14);
  private static final ValueLayout.OfLong BIG_ENDIAN_LONG =
      JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  // Offsets in struct ispan_request.
  private static final int REQUEST_SPAN_AT = 16;
  private static final int REQUEST_TGID_AT = 32;
  private static final int REQUEST_TID_AT = 44;
  private static final int CONTEXT_SPAN_AT = 16;

  private final PinnedMap pinned;
  private final BpfMap map;
  private final boolean publishing;
  private long own;
  private volatile boolean open = true;

  private SharedContexts(PinnedMap pinned, boolean publishing) {
    this.pinned = pinned;
    this.map = pinned.map();
    this.publishing = publishing;
  }

  /** Opens the map. If it does not exist, creates it for publishing, or else returns null. */
  static @Nullable SharedContexts open(Path bpfFilesystem, boolean publishing) {
    Path path = bpfFilesystem.resolve("otel").resolve(NAME);
    PinnedMap pinned = publishing ? PinnedMap.openOrMake(path, SHAPE) : PinnedMap.open(path, SHAPE);
    return pinned == null ? null : new SharedContexts(pinned, publishing);
  }

  BpfMap map() {
    return map;
  }

  /**
   * Starts publishing the contexts of this process's threads, and removes entries of threads that
   * no longer exist.
   *
   * @param tgid the pid of this process as the kernel's programs see it
   * @param translated whether pids in {@code /proc} differ from the kernel's, so that entries
   *     cannot be checked
   */
  public void begin(int tgid, boolean translated) {
    own = (long) tgid << Integer.SIZE;
    if (publishing && !translated) {
      withdraw(key -> !lives((int) (key >>> Integer.SIZE), (int) key));
    }
  }

  private static boolean lives(int tgid, int tid) {
    return Files.exists(Path.of("/proc", Integer.toString(tgid), "task", Integer.toString(tid)));
  }

  /** Returns whether threads publish their contexts. */
  public boolean isPublishing() {
    return publishing;
  }

  @Override
  public void published(int tid, long traceIdHigh, long traceIdLow, long spanId) {
    if (!open) {
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment context = arena.allocate(SHAPE.valueBytes(), Long.BYTES);
      context.set(BIG_ENDIAN_LONG, 0, traceIdHigh);
      context.set(BIG_ENDIAN_LONG, 8, traceIdLow);
      context.set(BIG_ENDIAN_LONG, CONTEXT_SPAN_AT, spanId);
      // If the map is full, the context is not published; readers of the map must expect that.
      map.put(arena.allocateFrom(JAVA_LONG, own | tid), context);
    }
  }

  @Override
  public void cleared(int tid) {
    if (!open) {
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      map.delete(arena.allocateFrom(JAVA_LONG, own | tid));
    }
  }

  /**
   * Removes the entries of this bridge: those of this process's threads, and those of {@code
   * requests}.
   */
  void withdraw(BpfMap requests) {
    open = false;
    if (!publishing) {
      return;
    }
    withdraw(key -> own != 0 && key >>> Integer.SIZE == own >>> Integer.SIZE);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment request = arena.allocate(requests.valueSize(), Long.BYTES);
      for (long number : keys(requests)) {
        if (requests.get(arena.allocateFrom(JAVA_LONG, number), request)) {
          withdraw(request, arena);
        }
      }
    }
  }

  /** Removes the entry of a request, unless the thread serves another request by now. */
  private void withdraw(MemorySegment request, Arena arena) {
    long tgid = request.get(JAVA_INT, REQUEST_TGID_AT);
    long tid = request.get(JAVA_INT, REQUEST_TID_AT);
    MemorySegment key = arena.allocateFrom(JAVA_LONG, tgid << Integer.SIZE | tid);
    MemorySegment context = arena.allocate(SHAPE.valueBytes(), Long.BYTES);
    if (map.get(key, context)
        && context.get(JAVA_LONG, CONTEXT_SPAN_AT) == request.get(JAVA_LONG, REQUEST_SPAN_AT)) {
      map.delete(key);
    }
  }

  private void withdraw(LongPredicate unwanted) {
    try (Arena arena = Arena.ofConfined()) {
      for (long key : keys(map)) {
        if (unwanted.test(key)) {
          map.delete(arena.allocateFrom(JAVA_LONG, key));
        }
      }
    }
  }

  /** Returns the keys present during the iteration, at most the map's capacity. */
  private static List<Long> keys(BpfMap map) {
    List<Long> keys = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocate(JAVA_LONG);
      MemorySegment next = arena.allocate(JAVA_LONG);
      for (MemorySegment from = MemorySegment.NULL;
          keys.size() < map.maxEntries() && map.nextKey(from, next);
          from = key) {
        keys.add(next.get(JAVA_LONG, 0));
        key.copyFrom(next);
      }
    }
    return keys;
  }

  @Override
  public void close() {
    pinned.close();
  }
}
