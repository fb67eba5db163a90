package io.inferspan.samples.desk.store;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The list of requests, latest change first. Reading takes no lock, and may miss concurrent
 * changes.
 */
public final class SummaryList {

  /**
   * The number of dropped requests whose figures are kept: over an hour at 20 requests per second.
   */
  static final int MAX_PAST = 80_000;

  private static final int MAX_NAMES = 4_096;

  private final AtomicLong lastSeq = new AtomicLong();

  /** Keys are negated because a skip list iterates fast in ascending order only. */
  private final ConcurrentNavigableMap<Long, Row> byNegatedSeq = new ConcurrentSkipListMap<>();

  /** Interned instances, so that equal names are stored once; cleared when full. */
  private final Map<Names, Names> names = new HashMap<>();

  /** The figures of requests whose spans were dropped, oldest first. */
  private final Deque<Sample> past = new ConcurrentLinkedDeque<>();

  private int pastCount;

  SummaryList() {}

  /** Adds a summary under the next {@code seq}; removes its previous version. Not thread-safe. */
  Summary replace(@Nullable Summary before, Summary made) {
    Summary listed = made.numbered(lastSeq.incrementAndGet());
    byNegatedSeq.put(-listed.seq(), Row.of(listed, shared(Names.of(listed))));
    remove(before);
    return listed;
  }

  private Names shared(Names some) {
    if (names.size() >= MAX_NAMES) {
      names.clear();
    }
    Names known = names.putIfAbsent(some, some);
    return known == null ? some : known;
  }

  void remove(@Nullable Summary summary) {
    if (summary != null) {
      byNegatedSeq.remove(-summary.seq());
    }
  }

  /** Keeps the figures of a request whose spans are dropped. Not thread-safe. */
  void toPast(@Nullable Summary summary) {
    if (summary == null) {
      return;
    }
    remove(summary);
    past.addLast(Sample.of(summary));
    if (pastCount == MAX_PAST) {
      past.removeFirst();
    } else {
      pastCount++;
    }
  }

  /** Returns the figures of all requests, including those whose spans were dropped. */
  public Stream<Sample> samples() {
    return Stream.concat(
        byNegatedSeq.values().stream().map(row -> Sample.of(row.summary())), past.stream());
  }

  /** Returns all summaries, latest change first. */
  public Iterable<Summary> newestFirst() {
    return () -> byNegatedSeq.values().stream().map(Row::summary).iterator();
  }

  /** Returns all rows, latest change first. */
  Collection<Row> rowsNewestFirst() {
    return byNegatedSeq.values();
  }

  /** Returns the {@code seq} of the latest change. */
  public long lastSeq() {
    return lastSeq.get();
  }

  /**
   * Returns the summaries that changed after {@code seq}, oldest first; only the latest {@code
   * limit} of them.
   */
  public List<Summary> changedSince(long seq, int limit) {
    List<Summary> changed = new ArrayList<>();
    for (Summary summary : newestFirst()) {
      if (summary.seq() <= seq || changed.size() == limit) {
        break;
      }
      changed.add(summary);
    }
    Collections.reverse(changed);
    return changed;
  }
}
