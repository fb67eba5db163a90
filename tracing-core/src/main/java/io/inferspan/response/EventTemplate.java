package io.inferspan.response;

import io.inferspan.json.EightBytes;
import java.nio.ByteBuffer;

/**
 * The last event of a stream without its text; matches events that differ only in their text.
 *
 * <p>Engines repeat ids, model and field names with every token. An event that equals the stored
 * one except for its text contains no other information and need not be parsed. Only events that
 * contain nothing but a token are stored, and only if they arrived in one piece.
 */
final class EventTemplate {

  /** The maximum size of a stored event, without its text; larger events are always parsed. */
  static final int MAX_BYTES = 1_024;

  /** The number of consecutive mismatches after which a stream is always parsed. */
  private static final int MAX_MISMATCHES = 4;

  /** The stored event without its text: the bytes before and after it. */
  private byte[] stored = {};

  private int before;
  private int after;
  private int mismatches;

  /**
   * Returns the end of the event at {@code from} if it matches the stored one, else {@code from}.
   */
  int match(ByteBuffer bytes, int from, int end) {
    int text = from + before;
    if (before == 0 || end - text <= after || !equalsStored(bytes, from, 0, before)) {
      return from;
    }
    int quote = endOfString(bytes, text, end);
    // An empty text is not a token.
    if (quote == text
        || end - quote < after
        || !equalsStored(bytes, quote, before, before + after)) {
      return from;
    }
    mismatches = 0;
    return quote + after;
  }

  /** Stores the event in these bounds, whose text begins at {@code text}. */
  void store(ByteBuffer bytes, int from, int text, int end) {
    int quote = endOfString(bytes, text, end);
    int length = text - from + end - quote;
    before = 0;
    if (length > MAX_BYTES || mismatches == MAX_MISMATCHES) {
      return;
    }
    mismatches++;
    if (stored.length < length) {
      stored = new byte[length];
    }
    before = text - from;
    after = end - quote;
    bytes.get(from, stored, 0, before).get(quote, stored, before, after);
  }

  private boolean equalsStored(ByteBuffer bytes, int from, int begin, int end) {
    int at = begin;
    int other = from;
    while (end - at >= Long.BYTES) {
      if (EightBytes.at(bytes, other) != EightBytes.at(stored, at)) {
        return false;
      }
      at += Long.BYTES;
      other += Long.BYTES;
    }
    while (at < end && bytes.get(other) == stored[at]) {
      at++;
      other++;
    }
    return at == end;
  }

  /** Returns the index of the quote that ends a string, or of a byte that interrupts it. */
  private static int endOfString(ByteBuffer bytes, int from, int end) {
    int at = EightBytes.endOfText(bytes, from, end);
    while (end - at > 1 && bytes.get(at) == '\\' && !EightBytes.isBreak(bytes.get(at + 1))) {
      at = EightBytes.endOfText(bytes, at + 2, end);
    }
    return at;
  }
}
