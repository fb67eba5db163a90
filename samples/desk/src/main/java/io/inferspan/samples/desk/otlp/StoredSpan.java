package io.inferspan.samples.desk.otlp;

/**
 * A span as it is kept: what lists and trees need, and the rest as the bytes that came.
 *
 * <p>Most spans are never looked at. Those that are, {@link #detail()} reads again.
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record StoredSpan(
    long id, long parentId, Times times, String name, Origin origin, Mark mark, byte[] bytes) {

  /** What objects cost beside the bytes and texts that they hold. */
  private static final int OVERHEAD_BYTES = 176;

  /** When it was, in nanoseconds since 1970. */
  public record Times(long startNanos, long endNanos) {}

  /**
   * What kind of span it is.
   *
   * @param kind OTLP's number of the kind
   * @param error whether its status says so
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

  /** Whether it says that it has no parent. */
  public boolean isRoot() {
    return parentId == 0;
  }

  public long startNanos() {
    return times.startNanos;
  }

  public long endNanos() {
    return times.endNanos;
  }

  /** What it costs to keep. */
  public int cost() {
    return OVERHEAD_BYTES + bytes.length + name.length() + origin.length();
  }

  /** Reads all that it carries. */
  public SpanDetail detail() {
    return DetailReader.read(bytes);
  }
}
