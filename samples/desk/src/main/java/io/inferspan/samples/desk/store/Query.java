package io.inferspan.samples.desk.store;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A search in the request list.
 *
 * @param text a part of a trace id, request id, model, request name, service, pod, pod address or
 *     error; ids match from four characters on; empty matches everything
 * @param beforeSeq returns only summaries with a lower {@code seq}; only for {@link Order#CHANGES}
 * @param order one of {@link Order}
 */
public record Query(
    String text,
    @Nullable Status status,
    @Nullable String model,
    double minMillis,
    double minTtftMillis,
    long beforeSeq,
    int limit,
    Comparator<Summary> order) {

  private static final int MIN_ID_LENGTH = 4;
  private static final int MAX_REMEMBERED = 10_000;

  /**
   * The result of a search.
   *
   * @param found the first matches, up to the limit
   * @param matched the number of all matches
   */
  public record Result(List<Summary> found, long matched) {}

  /** Searches the summaries, without their spans. */
  public Result in(SummaryList list) {
    Search search = new Search(text.toLowerCase(Locale.ROOT));
    List<Summary> found = new ArrayList<>();
    long matched = 0;
    boolean sorted = !order.equals(Order.CHANGES);
    for (Row row : list.rowsNewestFirst()) {
      if (matches(row) && search.matches(row)) {
        matched++;
        if (sorted || (found.size() < limit && row.summary().seq() < beforeSeq)) {
          found.add(row.summary());
        }
      }
    }
    if (sorted) {
      found.sort(order);
    }
    return new Result(found.subList(0, Math.min(limit, found.size())), matched);
  }

  private boolean matches(Row row) {
    return (status == null || row.status() == status)
        && (model == null || model.equals(row.names().model()))
        && row.durationMillis() >= minMillis
        && (minTtftMillis <= 0 || row.ttftMillis() >= minTtftMillis);
  }

  /** A text search that compares {@link Names} shared by several requests only once. */
  private static final class Search {
    private final String wanted;
    private final boolean maybeId;
    private final @Nullable TraceIdPart traceId;
    private final IdentityHashMap<Names, Boolean> seen = new IdentityHashMap<>();

    Search(String wanted) {
      this.wanted = wanted;
      this.maybeId = wanted.length() >= MIN_ID_LENGTH;
      this.traceId = maybeId ? TraceIdPart.parse(wanted) : null;
    }

    boolean matches(Row row) {
      return wanted.isEmpty()
          || (traceId != null && traceId.isIn(row.traceHigh(), row.traceLow()))
          || namesContain(row.names())
          || (maybeId && isInRequestId(row));
    }

    private boolean isInRequestId(Row row) {
      String id = row.summary().requestId();
      int last = id == null ? -1 : id.length() - wanted.length();
      for (int at = 0; at <= last; at++) {
        if (id != null && id.regionMatches(true, at, wanted, 0, wanted.length())) {
          return true;
        }
      }
      return false;
    }

    private boolean namesContain(Names names) {
      Boolean known = seen.get(names);
      if (known != null) {
        return known;
      }
      boolean contained = names.contain(wanted);
      if (seen.size() < MAX_REMEMBERED) {
        seen.put(names, contained);
      }
      return contained;
    }
  }
}
