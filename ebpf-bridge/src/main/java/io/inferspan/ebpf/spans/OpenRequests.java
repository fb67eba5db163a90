package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Kind;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests that have something to be written, bounded in number and in folds.
 *
 * <p>Where there is no room, the request that was quiet longest is written for the new one. Objects
 * are used again, so that a steady stream of events costs no memory.
 */
final class OpenRequests {

  private final FoldOptions options;
  private final SpanAccounting accounting;
  private final Consumer<OpenRequest> writer;
  private final @Nullable OpenRequest[] buckets;
  private final RequestList running = new RequestList();
  private final RequestList ending = new RequestList();

  /** Announced, quiet and written: only their begin and their counts are remembered. */
  private final RequestList resting = new RequestList();

  private final ArrayDeque<OpenRequest> spareRequests = new ArrayDeque<>();
  private final ArrayDeque<Fold> spareFolds = new ArrayDeque<>();
  private int folds;
  private int remembered;
  private volatile int count;

  /** A table whose requests, when their time has come, go to {@code writer}. */
  OpenRequests(FoldOptions options, SpanAccounting accounting, Consumer<OpenRequest> writer) {
    this.options = options;
    this.accounting = accounting;
    this.writer = writer;
    int wanted = Integer.highestOneBit(2 * options.bounds().requests() - 1) * 2;
    this.buckets = new @Nullable OpenRequest[wanted];
  }

  /** Requests with something to be written; any thread may ask. */
  int count() {
    return count;
  }

  @Nullable OpenRequest find(long owner) {
    OpenRequest request = buckets[bucket(owner)];
    while (request != null && request.number != owner) {
      request = request.sameBucket;
    }
    return request;
  }

  /** What is open of this owner, from now on the one that was quiet shortest. */
  OpenRequest touch(long owner, long nowNanos) {
    OpenRequest request = find(owner);
    if (request == null) {
      return open(owner, nowNanos);
    }
    request.touchedNanos = nowNanos;
    if (!request.isEnding()) {
      run(request, nowNanos);
    }
    return request;
  }

  @SuppressWarnings("ReferenceEquality") // a list is itself
  private void run(OpenRequest request, long nowNanos) {
    if (request.list == resting) {
      request.gatheredSinceNanos = nowNanos;
      counted(1);
    }
    running.take(request);
    if (nowNanos - request.gatheredSinceNanos >= options.times().ageNanos()) {
      write(request);
      request.gatheredSinceNanos = nowNanos;
    }
  }

  private OpenRequest open(long owner, long nowNanos) {
    if (remembered >= options.bounds().requests()) {
      makeRoom();
    }
    OpenRequest spare = spareRequests.poll();
    OpenRequest request = spare == null ? new OpenRequest() : spare;
    request.begin(owner, nowNanos);
    int bucket = bucket(owner);
    request.sameBucket = buckets[bucket];
    buckets[bucket] = request;
    running.append(request);
    remembered++;
    counted(1);
    return request;
  }

  private void makeRoom() {
    OpenRequest written = resting.first();
    if (written == null) {
      evict(null);
    } else {
      accounting.countEvicted();
      close(written);
    }
  }

  /** Writes the request that has ended, or else was quiet longest, but not {@code spared}. */
  private void evict(@Nullable OpenRequest spared) {
    OpenRequest oldest = ending.first();
    if (oldest == null || oldest == spared) {
      oldest = running.first();
    }
    if (oldest != null && oldest != spared) {
      accounting.countEvicted();
      close(oldest);
    } else if (spared != null) {
      write(spared);
    }
  }

  /** Notes that the request is over; late events still have the grace time to come. */
  void end(long owner, long nowNanos) {
    OpenRequest request = find(owner);
    if (request != null && !request.isEnding()) {
      run(request, nowNanos);
      request.dueNanos = Math.max(1, nowNanos + options.times().graceNanos());
      ending.take(request);
    }
  }

  /** Writes the requests whose time has come. */
  void expire(long nowNanos) {
    OpenRequest over = ending.first();
    while (over != null && over.dueNanos <= nowNanos) {
      close(over);
      over = ending.first();
    }
    OpenRequest quiet = running.first();
    while (quiet != null && nowNanos - quiet.touchedNanos >= options.times().quietNanos()) {
      rest(quiet);
      quiet = running.first();
    }
    OpenRequest silent = resting.first();
    while (silent != null && nowNanos - silent.touchedNanos >= options.times().toldNanos()) {
      close(silent);
      silent = resting.first();
    }
  }

  /** A request whose end will be announced stays known, so that later events find its begin. */
  private void rest(OpenRequest request) {
    if (request.told) {
      resting.take(request);
      counted(-1);
      write(request);
    } else {
      close(request);
    }
  }

  /** Writes all that there is. */
  void closeAll() {
    for (OpenRequest r = ending.first(); r != null; r = ending.first()) {
      close(r);
    }
    for (OpenRequest r = running.first(); r != null; r = running.first()) {
      close(r);
    }
    for (OpenRequest r = resting.first(); r != null; r = resting.first()) {
      close(r);
    }
  }

  @SuppressWarnings("ReferenceEquality") // a list is itself
  private void close(OpenRequest request) {
    RequestList list = request.list;
    if (list != null) {
      list.remove(request);
    }
    unlink(request);
    remembered--;
    if (list != resting) {
      counted(-1);
    }
    write(request);
    spareRequests.push(request);
  }

  private void write(OpenRequest request) {
    try {
      writer.accept(request);
    } finally {
      for (int i = 0; i < request.foldCount(); i++) {
        Fold fold = request.fold(i);
        if (fold != null) {
          spareFolds.push(fold);
          folds--;
        }
      }
      request.clear();
    }
  }

  /** The fold of events like this one; told apart by detail while there is room for that. */
  Fold fold(OpenRequest request, EventView view, Kind kind, DetailKey detail) {
    Fold known = request.foldOf(view, kind, detail.key());
    if (known != null) {
      return known;
    }
    if (request.foldCount() < options.bounds().foldsPerRequest()) {
      return added(request).begin(view, kind, detail.key(), detail.label(view));
    }
    Fold any = request.foldOfAny(kind);
    return any != null ? any : added(request).beginUntold(view, kind);
  }

  private Fold added(OpenRequest request) {
    if (folds >= options.bounds().folds()) {
      evict(request);
    }
    Fold spare = spareFolds.poll();
    Fold fold = spare == null ? new Fold() : spare;
    folds++;
    request.add(fold);
    return fold;
  }

  private void unlink(OpenRequest request) {
    int bucket = bucket(request.number);
    OpenRequest other = buckets[bucket];
    if (other == request) {
      buckets[bucket] = request.sameBucket;
    } else {
      while (other != null && other.sameBucket != request) {
        other = other.sameBucket;
      }
      if (other != null) {
        other.sameBucket = request.sameBucket;
      }
    }
    request.sameBucket = null;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  private void counted(int change) {
    count += change;
  }

  private int bucket(long owner) {
    return (int) ((owner * 0x9e3779b97f4a7c15L) >>> 32) & (buckets.length - 1);
  }
}
