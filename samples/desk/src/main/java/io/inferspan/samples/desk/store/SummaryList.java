package io.inferspan.samples.desk.store;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The list of requests, the latest change first. It is read without a lock, and sees what changes
 * meanwhile or does not.
 */
public final class SummaryList {

  private static final int MAX_NAMES = 4_096;

  private final AtomicLong lastSeq = new AtomicLong();

  /** By number, negated: a skip list runs well in one direction only. */
  private final ConcurrentNavigableMap<Long, Row> byNegatedSeq = new ConcurrentSkipListMap<>();

  /** Those in use, more or less: past its bound, it begins again. */
  private final Map<Names, Names> names = new HashMap<>();

  SummaryList() {}

  /** Numbers and lists a summary in place of an earlier one; one thread at a time. */
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

  /** All of them. */
  public Iterable<Summary> newestFirst() {
    return () -> byNegatedSeq.values().stream().map(Row::summary).iterator();
  }

  /** The same for a search. */
  Collection<Row> rowsNewestFirst() {
    return byNegatedSeq.values();
  }

  /** The number of the latest change. */
  public long lastSeq() {
    return lastSeq.get();
  }

  /** What has changed since, oldest first; of more than the limit, the latest. */
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
