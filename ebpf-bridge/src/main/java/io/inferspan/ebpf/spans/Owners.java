package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Owner;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Maps owner numbers to the owners of events (requests, adopted processes and spans) that began
 * recently, and request ids to requests. Only used on the ring's thread.
 *
 * <p>The size is bounded: a new owner replaces an ended one, or else the oldest, in its set of the
 * hash table. Unknown owners are looked up in the kernel.
 */
public final class Owners {

  /** The number of slots per set. */
  private static final int WAYS = 8;

  private static final int SETS = 1 << 10;

  private final @Nullable Owner[] owners = new @Nullable Owner[SETS * WAYS];

  /** The order of insertion, from 1 on; negated after the owner has ended. */
  private final long[] ages = new long[SETS * WAYS];

  private final Map<HeadKey, NamedRequests> named = new HashMap<>();
  private final Source source;
  private long age;
  private volatile long ambiguous;

  /** Looks up owners in the kernel, if their begin event was lost or they were replaced. */
  @FunctionalInterface
  public interface Source {

    /**
     * Returns the owner with this number, given a thread that had an event of it; null if it is
     * unknown.
     */
    @Nullable Owner find(long number, int tgid, int tid);
  }

  private record HeadKey(int tgid, String requestId) {}

  /** The live requests of one process with the same id. */
  private static final class NamedRequests {
    private @Nullable Owner only;
    private int live;
  }

  Owners(Source source) {
    this.source = source;
  }

  /** Adds the owner that an event introduces. */
  void began(EventView event) {
    if (event.namesOwner() && find(event.owner()) < 0) {
      put(Owner.of(event));
    }
  }

  /** Marks an owner as ended; it is kept for late events until it is replaced. */
  void ended(EventView event) {
    began(event);
    int at = find(event.owner());
    Owner owner = at < 0 ? null : owners[at];
    if (owner != null && ages[at] > 0) {
      ages[at] = -ages[at];
      unname(owner);
    }
  }

  /** Looks up an unknown owner in the kernel, given a thread that had an event of it. */
  void seek(long number, int tgid, int tid) {
    Owner found = find(number) < 0 ? source.find(number, tgid, tid) : null;
    if (found != null) {
      put(found);
    }
  }

  /** Returns the owner with a number; null if it is unknown. */
  @Nullable Owner of(long number) {
    int at = find(number);
    return at < 0 ? null : owners[at];
  }

  /**
   * Returns the live request of this process with this {@code x-request-id} header; null if there
   * is none, or more than one.
   */
  public @Nullable Owner ofRequestId(int tgid, String requestId) {
    NamedRequests requests = named.get(new HeadKey(tgid, requestId));
    return requests == null ? null : requests.only;
  }

  /**
   * Returns the number of requests that began while another request of the process had the same id.
   */
  public long ambiguous() {
    return ambiguous;
  }

  private int find(long number) {
    int first = firstOf(number);
    for (int at = first; at < first + WAYS; at++) {
      Owner owner = owners[at];
      if (owner != null && owner.number() == number) {
        return at;
      }
    }
    return -1;
  }

  private static int firstOf(long number) {
    return ((int) ((number * 0x9e3779b97f4a7c15L) >>> 40) & (SETS - 1)) * WAYS;
  }

  private void put(Owner owner) {
    int first = firstOf(owner.number());
    int slot = first;
    for (int at = first; at < first + WAYS; at++) {
      if (isBefore(ages[at], ages[slot])) {
        slot = at;
      }
    }
    Owner replaced = owners[slot];
    if (replaced != null && ages[slot] > 0) {
      unname(replaced);
    }
    owners[slot] = owner;
    ages[slot] = ++age;
    name(owner);
  }

  /**
   * Returns whether a slot is reused before another one: free slots, then those of ended owners,
   * then those of live owners, the oldest first.
   */
  private static boolean isBefore(long one, long other) {
    if (one == 0 || other == 0) {
      return one == 0 && other != 0;
    }
    return one > 0 == other > 0 ? Math.abs(one) < Math.abs(other) : one < 0;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  private void name(Owner owner) {
    String id = owner.requestId();
    if (id != null) {
      NamedRequests requests =
          named.computeIfAbsent(new HeadKey(owner.tgid(), id), key -> new NamedRequests());
      requests.only = requests.live++ == 0 ? owner : null;
      if (requests.live > 1) {
        ambiguous++;
      }
    }
  }

  private void unname(Owner owner) {
    String id = owner.requestId();
    HeadKey key = id == null ? null : new HeadKey(owner.tgid(), id);
    NamedRequests requests = key == null ? null : named.get(key);
    if (requests != null && --requests.live == 0) {
      named.remove(key);
    }
  }
}
