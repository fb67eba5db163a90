package io.inferspan.samples.desk.store;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The list of requests, the latest change first. It is read without a lock, and sees what changes
 * meanwhile or does not.
 */
public final class SummaryList {

  private final AtomicLong lastSeq = new AtomicLong();

  /** By number, negated: a skip list runs well in one direction only. */
  private final ConcurrentNavigableMap<Long, Summary> byNegatedSeq = new ConcurrentSkipListMap<>();

  SummaryList() {}

  /** Numbers and lists a summary in place of an earlier one. */
  Summary replace(@Nullable Summary before, Summary made) {
    Summary listed = made.numbered(lastSeq.incrementAndGet());
    byNegatedSeq.put(-listed.seq(), listed);
    remove(before);
    return listed;
  }

  void remove(@Nullable Summary summary) {
    if (summary != null) {
      byNegatedSeq.remove(-summary.seq());
    }
  }

  /** All of them. */
  public Iterable<Summary> newestFirst() {
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
