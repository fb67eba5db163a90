package io.inferspan.samples.desk.store;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What someone looks for.
 *
 * @param text a trace id or its beginning, a request id, or part of the names of model, request,
 *     service or error; empty for anything
 * @param beforeSeq only what is listed below this number
 */
public record Query(
    String text,
    @Nullable Status status,
    @Nullable String model,
    double minMillis,
    double minTtftMillis,
    long beforeSeq,
    int limit) {

  private static final int MIN_ID_LENGTH = 4;
  private static final int MAX_REMEMBERED = 10_000;

  /**
   * What was found.
   *
   * @param matched how many there are, of which {@code found} are the first
   */
  public record Result(List<Summary> found, long matched) {}

  /** Looks through all lines: the spans themselves need not be looked at. */
  public Result in(SummaryList list) {
    Search search = new Search(text.toLowerCase(Locale.ROOT));
    List<Summary> found = new ArrayList<>();
    long matched = 0;
    for (Row row : list.rowsNewestFirst()) {
      if (matches(row) && search.matches(row)) {
        matched++;
        if (found.size() < limit && row.summary().seq() < beforeSeq) {
          found.add(row.summary());
        }
      }
    }
    return new Result(found, matched);
  }

  private boolean matches(Row row) {
    return (status == null || row.status() == status)
        && (model == null || model.equals(row.names().model()))
        && row.durationMillis() >= minMillis
        && (minTtftMillis <= 0 || row.ttftMillis() >= minTtftMillis);
  }

  /** One search for a text. Names that many requests share are looked into once. */
  private static final class Search {
    private final String wanted;
    private final @Nullable Prefix requestId;
    private final @Nullable Prefix traceId;
    private final IdentityHashMap<Names, Boolean> seen = new IdentityHashMap<>();

    Search(String wanted) {
      boolean maybeId = wanted.length() >= MIN_ID_LENGTH;
      this.wanted = wanted;
      this.requestId = maybeId ? Prefix.ofLetters(wanted) : null;
      this.traceId = maybeId ? Prefix.ofTraceId(wanted) : null;
    }

    boolean matches(Row row) {
      return wanted.isEmpty()
          || (traceId != null && traceId.begins(row.traceHigh(), row.traceLow()))
          || (requestId != null && requestId.begins(row.idHigh(), row.idLow()) && isIdOf(row))
          || hold(row.names());
    }

    private boolean isIdOf(Row row) {
      String id = row.summary().requestId();
      return id != null && id.regionMatches(true, 0, wanted, 0, wanted.length());
    }

    private boolean hold(Names names) {
      Boolean known = seen.get(names);
      if (known != null) {
        return known;
      }
      boolean hold = names.hold(wanted);
      if (seen.size() < MAX_REMEMBERED) {
        seen.put(names, hold);
      }
      return hold;
    }
  }
}
