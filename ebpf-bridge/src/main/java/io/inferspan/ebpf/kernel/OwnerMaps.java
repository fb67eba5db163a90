package io.inferspan.ebpf.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.wire.Owner;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Looks up owners of events (requests, adopted processes and spans) in the BPF maps of requests and
 * threads, if their begin event was lost.
 */
final class OwnerMaps {

  private static final ValueLayout.OfLong BIG_ENDIAN_LONG =
      JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  /** Offsets in struct ispan_request, which begins with its ids. */
  private static final int REQUEST_TGID_AT = 32;

  private static final int REQUEST_FLAGS_AT = 40;
  private static final int REQUEST_IS_PROCESS = 0x40;
  private static final int REQUEST_IS_STEP = 0x80;

  /** Offset in struct ispan_own. */
  private static final int OWN_IDS_AT = 8;

  private final BpfMap requests;
  private final BpfMap ownThreads;
  private final BpfMap ownContexts;
  private final BpfMap sharedContexts;

  OwnerMaps(BpfObject context) {
    this.requests = context.map("requests");
    this.ownThreads = context.map("own_threads");
    this.ownContexts = context.map("own_contexts");
    this.sharedContexts = context.map("otel_contexts");
  }

  /**
   * Returns the owner with this number, given a thread that had an event of it; null if the owner
   * has ended.
   */
  @Nullable Owner find(long number, int tgid, int tid) {
    try (Arena arena = Arena.ofConfined()) {
      return Owner.isSpan(number) ? span(arena, number, tgid, tid) : request(arena, number);
    }
  }

  private @Nullable Owner request(Arena arena, long number) {
    MemorySegment request = arena.allocate(requests.valueSize(), Long.BYTES);
    if (!requests.get(arena.allocateFrom(JAVA_LONG, number), request)) {
      return null;
    }
    int tgid = request.get(JAVA_INT, REQUEST_TGID_AT);
    int flags = request.get(JAVA_INT, REQUEST_FLAGS_AT);
    if ((flags & REQUEST_IS_STEP) != 0) {
      return null; // Its members were lost, too.
    }
    Owner.Kind kind = (flags & REQUEST_IS_PROCESS) != 0 ? Owner.Kind.PROCESS : Owner.Kind.REQUEST;
    return owner(number, kind, request, 0, tgid);
  }

  private @Nullable Owner span(Arena arena, long number, int tgid, int tid) {
    MemorySegment context = arena.allocate(ownContexts.valueSize(), Long.BYTES);
    MemorySegment slot = arena.allocate(JAVA_INT);
    if (ownThreads.get(arena.allocateFrom(JAVA_INT, tid), slot)) {
      int index = slot.get(JAVA_INT, 0) - 1;
      boolean found = ownContexts.get(arena.allocateFrom(JAVA_INT, index), context);
      return found ? checked(number, context, OWN_IDS_AT, tgid) : null;
    }
    long thread = (long) tgid << Integer.SIZE | tid;
    boolean found = sharedContexts.get(arena.allocateFrom(JAVA_LONG, thread), context);
    return found ? checked(number, context, 0, tgid) : null;
  }

  /**
   * Returns the owner with these ids; null if its number differs, because the thread has another
   * span now.
   */
  private static @Nullable Owner checked(long number, MemorySegment ids, int at, int tgid) {
    Owner owner = owner(number, Owner.Kind.SPAN, ids, at, tgid);
    long same = Owner.ofSpan(owner.traceIdHigh(), owner.traceIdLow(), owner.spanId());
    return same == number ? owner : null;
  }

  private static Owner owner(long number, Owner.Kind kind, MemorySegment ids, int at, int tgid) {
    return new Owner(
        number,
        kind,
        ids.get(BIG_ENDIAN_LONG, at),
        ids.get(BIG_ENDIAN_LONG, at + 8),
        ids.get(BIG_ENDIAN_LONG, at + 16),
        tgid,
        null);
  }
}
