package io.inferspan.ebpf.wire;

import org.jspecify.annotations.Nullable;

/**
 * The owner of events: a request, an engine step, a process or a span. Events contain only the
 * number of their owner. One event, which also has the other fields, introduces the owner.
 *
 * @param number the number by which events refer to it: {@code ispan_record.owner}
 * @param kind the kind of owner
 * @param traceIdHigh the first half of the trace id
 * @param traceIdLow the second half of the trace id
 * @param spanId the parent span
 * @param tgid the pid of the process that read the request, or that is the owner
 * @param requestId the request head's {@code x-request-id}, or null
 */
public record Owner(
    long number,
    Kind kind,
    long traceIdHigh,
    long traceIdLow,
    long spanId,
    int tgid,
    @Nullable String requestId) {

  private static final long IS_SPAN = Long.MIN_VALUE;

  /** The kinds of owners, numbered as in {@code wire.h}. */
  public enum Kind {
    UNKNOWN,
    /** A request, from its head to the end of its response. */
    REQUEST,
    /** A step of an engine, for all requests of its batch. */
    STEP,
    /**
     * A process that was assigned to a span (adopted) and its children, for work that belongs to
     * none of their requests.
     */
    PROCESS,
    /** A span that an application published as current on a thread; its end is not reported. */
    SPAN;

    private static final Kind[] ALL = values();

    /** Returns the kind of this number. */
    public static Kind of(int number) {
      return number > 0 && number < ALL.length ? ALL[number] : UNKNOWN;
    }
  }

  /** Returns the owner that an event introduces or ends. */
  public static Owner of(EventView event) {
    String requestId = event.requestId();
    return new Owner(
        event.owner(),
        Kind.of(event.result()),
        event.traceIdHigh(),
        event.traceIdLow(),
        event.spanId(),
        event.tgid(),
        requestId.isEmpty() ? null : requestId);
  }

  /**
   * Returns the owner number of a span, computed from its ids as {@code ispan_span_owner} does. So
   * the kernel and this process need no common table of spans.
   */
  public static long ofSpan(long traceIdHigh, long traceIdLow, long spanId) {
    long first = Long.reverseBytes(traceIdHigh);
    long second = Long.reverseBytes(traceIdLow);
    long mixed =
        Long.reverseBytes(spanId) ^ second * 0x9e3779b97f4a7c15L ^ Long.rotateLeft(first, 29);
    mixed *= 0xbf58476d1ce4e5b9L;
    return (mixed ^ mixed >>> 32) | IS_SPAN;
  }

  /**
   * Returns when it began, to about a microsecond: an owner number is a timestamp whose low ten
   * bits are replaced. Not valid for spans.
   */
  public long beganNanos() {
    return number & -1024;
  }

  /** Returns whether a number belongs to a span. */
  public static boolean isSpan(long number) {
    return (number & IS_SPAN) != 0;
  }
}
