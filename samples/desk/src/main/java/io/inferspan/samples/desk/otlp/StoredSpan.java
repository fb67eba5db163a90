package io.inferspan.samples.desk.otlp;

/**
 * A span in the store: the fields that lists and trees need, and the received bytes.
 *
 * <p>Users open few spans, so {@link #detail()} decodes the other fields on demand.
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record StoredSpan(
    long id, long parentId, Times times, String name, Origin origin, Mark mark, byte[] bytes) {

  /** The estimated memory of a span's objects, without their bytes and strings. */
  private static final int OVERHEAD_BYTES = 176;

  /** Start and end, in nanoseconds since 1970. */
  public record Times(long startNanos, long endNanos) {}

  /**
   * Span kind and status.
   *
   * @param kind the span kind's number in OTLP
   * @param error whether the status is an error
   */
  public record Mark(int kind, boolean error) {

    private static final int KINDS = 6;
    private static final Mark[] ALL = new Mark[2 * KINDS];

    static {
      for (int i = 0; i < ALL.length; i++) {
        ALL[i] = new Mark(i / 2, i % 2 == 1);
      }
    }

    static Mark of(long kind, boolean error) {
      int known = kind < 0 || kind >= KINDS ? 0 : (int) kind;
      return ALL[2 * known + (error ? 1 : 0)];
    }
  }

  /** Returns whether the span has no parent id. */
  public boolean isRoot() {
    return parentId == 0;
  }

  public long startNanos() {
    return times.startNanos;
  }

  public long endNanos() {
    return times.endNanos;
  }

  /** Returns the estimated memory of the span, in bytes. */
  public int cost() {
    return OVERHEAD_BYTES + bytes.length + name.length() + origin.length();
  }

  /** Decodes attributes, events and links. */
  public SpanDetail detail() {
    return SpanDetail.read(bytes);
  }
}
