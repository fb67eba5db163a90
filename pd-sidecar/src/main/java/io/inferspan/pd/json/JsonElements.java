package io.inferspan.pd.json;

import org.jspecify.annotations.Nullable;

/** Hands out the elements of a valid array one by one. */
final class JsonElements {
  private final byte[] json;
  private final int to;
  private final JsonScanner scanner;

  /** At an opening bracket or a comma before the next element, or at the end. */
  private int at;

  JsonElements(byte[] json, int from, int to) {
    this.json = json;
    this.at = from;
    this.to = to;
    this.scanner = new JsonScanner(json, to, Integer.MAX_VALUE);
  }

  @Nullable JsonValue next() {
    if (at >= to) {
      return null;
    }
    int start = scanner.skipSpace(at + 1);
    if (start >= to || json[start] == ']') {
      at = to;
      return null;
    }
    int end = endOf(start);
    int mark = scanner.skipSpace(end);
    at = scanner.peek(mark) == ',' ? mark : to;
    return new JsonValue(json, start, end);
  }

  private int endOf(int start) {
    try {
      return scanner.skipValue(start, 0);
    } catch (InvalidJson e) {
      throw new IllegalStateException("elements of an array that was not validated", e);
    }
  }
}
