package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Kind;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests that have unwritten events or have not ended. Engine steps and other owners of
 * events count as requests.
 *
 * <p>If the limit of requests is reached, a new request replaces one whose events were already
 * written. If all requests have unwritten events, the one that ended first is written and replaced;
 * if none has ended, the one without an event for the longest time. The number of {@link Fold}
 * objects is limited, too. Objects are reused, so a steady stream of events allocates nothing.
 */
final class OpenRequests {

  private final FoldOptions options;
  private final SpanAccounting accounting;
  private final Consumer<OpenRequest> writer;
  private final @Nullable OpenRequest[] buckets;
  private final RequestList running = new RequestList();
  private final RequestList ending = new RequestList();

  /**
   * Requests whose events were written, but that have not ended. Their start is kept for later
   * events.
   */
  private final RequestList resting = new RequestList();

  private final ArrayDeque<OpenRequest> spareRequests = new ArrayDeque<>();
  private final ArrayDeque<Fold> spareFolds = new ArrayDeque<>();
  private int folds;
  private int remembered;
  private volatile int count;

  /** Creates a table that passes due requests to {@code writer}. */
  OpenRequests(FoldOptions options, SpanAccounting accounting, Consumer<OpenRequest> writer) {
    this.options = options;
    this.accounting = accounting;
    this.writer = writer;
    int wanted = Integer.highestOneBit(2 * options.bounds().requests() - 1) * 2;
    this.buckets = new @Nullable OpenRequest[wanted];
  }

  /** Returns the number of requests with unwritten events. Any thread may call this. */
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

  /**
   * Returns the open request of an owner, creating it if necessary, and marks it as the most
   * recently used.
   */
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

  @SuppressWarnings("ReferenceEquality") // compares identities
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

  /**
   * Writes and removes the request that ended first or, if none has ended, the least recently used
   * one. Never removes {@code spared}: if there is no other request, only writes its events.
   */
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

  /** Marks a request as ended; late events are accepted for the grace time. */
  void end(long owner, long nowNanos) {
    OpenRequest request = find(owner);
    if (request != null && !request.isEnding()) {
      run(request, nowNanos);
      request.dueNanos = Math.max(1, nowNanos + options.times().graceNanos());
      ending.take(request);
    }
  }

  /** Writes the requests that are due. */
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
    while (silent != null && nowNanos - silent.touchedNanos >= options.times().openNanos()) {
      close(silent);
      silent = resting.first();
    }
  }

  /**
   * Writes the events of a quiet request. Keeps its state if its end will be reported, so that
   * later events find its start.
   */
  private void rest(OpenRequest request) {
    if (request.startReported) {
      resting.take(request);
      counted(-1);
      write(request);
    } else {
      close(request);
    }
  }

  /** Writes all requests. */
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

  @SuppressWarnings("ReferenceEquality") // compares identities
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

  /**
   * Returns the fold for an event. Beyond the limit of folds per request, one fold takes all events
   * of a kind.
   */
  Fold fold(OpenRequest request, EventView view, Kind kind, DetailKey detail) {
    Fold known = request.foldOf(view, kind, detail.key());
    if (known != null) {
      return known;
    }
    if (request.foldCount() < options.bounds().foldsPerRequest()) {
      return added(request).begin(view, kind, detail.key(), detail.label(view));
    }
    Fold mixed = request.mixedFoldOf(kind);
    return mixed != null ? mixed : added(request).beginMixed(view, kind);
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
