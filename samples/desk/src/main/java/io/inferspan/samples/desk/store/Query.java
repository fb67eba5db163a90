package io.inferspan.samples.desk.store;

import java.util.ArrayList;
import java.util.HexFormat;
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

  /** Looks through all summaries: the spans themselves need not be looked at. */
  public Result in(Iterable<Summary> newestFirst) {
    Search search = new Search(text.toLowerCase(Locale.ROOT));
    List<Summary> found = new ArrayList<>();
    long matched = 0;
    for (Summary summary : newestFirst) {
      if (matches(summary) && search.matches(summary)) {
        matched++;
        if (summary.seq() < beforeSeq && found.size() < limit) {
          found.add(summary);
        }
      }
    }
    return new Result(found, matched);
  }

  private boolean matches(Summary summary) {
    Summary.Outcome outcome = summary.outcome();
    return (status == null || outcome.status() == status)
        && (model == null || model.equals(summary.model()))
        && summary.head().durationMillis() >= minMillis
        && (minTtftMillis <= 0
            || (outcome.ttftMillis() != null && outcome.ttftMillis() >= minTtftMillis));
  }

  /** One search for a text. A name that many requests share is looked into once. */
  private static final class Search {
    private final String wanted;
    private final boolean maybeId;
    private final boolean maybeTraceId;
    private final IdentityHashMap<String, Boolean> seen = new IdentityHashMap<>();

    Search(String wanted) {
      this.wanted = wanted;
      this.maybeId = wanted.length() >= MIN_ID_LENGTH;
      this.maybeTraceId = maybeId && wanted.chars().allMatch(HexFormat::isHexDigit);
    }

    boolean matches(Summary summary) {
      return wanted.isEmpty()
          || holds(summary.model())
          || holds(summary.head().name())
          || anyHolds(summary.head().services())
          || holds(summary.outcome().errorType())
          || (maybeId && isIdOf(summary));
    }

    private boolean isIdOf(Summary summary) {
      String requestId = summary.requestId();
      return (requestId != null && startsWith(requestId))
          || (maybeTraceId && summary.traceId().toString().startsWith(wanted));
    }

    private boolean startsWith(String id) {
      return id.regionMatches(true, 0, wanted, 0, wanted.length());
    }

    private boolean anyHolds(List<String> names) {
      for (String name : names) {
        if (holds(name)) {
          return true;
        }
      }
      return false;
    }

    private boolean holds(@Nullable String name) {
      if (name == null) {
        return false;
      }
      Boolean known = seen.get(name);
      if (known != null) {
        return known;
      }
      boolean holds = name.toLowerCase(Locale.ROOT).contains(wanted);
      if (seen.size() < MAX_REMEMBERED) {
        seen.put(name, holds);
      }
      return holds;
    }
  }
}
