package io.inferspan.pd.json;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** JSON as a sequence of byte ranges, most of which are parts of a scanned body. */
public final class JsonPieces {
  private final List<JsonValue> pieces = new ArrayList<>();
  private int length;

  public JsonPieces raw(byte[] bytes) {
    add(bytes, 0, bytes.length);
    return this;
  }

  /** Adds ASCII characters unchanged. */
  public JsonPieces raw(String ascii) {
    return raw(ascii.getBytes(StandardCharsets.US_ASCII));
  }

  /** Adds an existing value, byte for byte. */
  public JsonPieces value(JsonValue value) {
    add(value.bytes(), value.from(), value.to());
    return this;
  }

  /**
   * Adds the elements of an array before {@code end}, or all if {@code end} is null. Returns false
   * if there are none.
   */
  public boolean elements(JsonValue array, @Nullable JsonValue end) {
    if (!array.isArray()) {
      return false;
    }
    byte[] bytes = array.bytes();
    int first = array.from() + 1;
    int last = end == null ? array.to() - 1 : end.from();
    while (last > first && isSpaceOrComma(bytes[last - 1])) {
      last--;
    }
    add(bytes, first, last);
    return last > first;
  }

  private static boolean isSpaceOrComma(byte b) {
    return (b > 0 && b <= ' ') || b == ',';
  }

  void add(byte[] bytes, int from, int to) {
    if (from < to) {
      pieces.add(new JsonValue(bytes, from, to));
      length = Math.addExact(length, to - from);
    }
  }

  public JsonPieces add(JsonPieces others) {
    others.pieces.forEach(piece -> add(piece.bytes(), piece.from(), piece.to()));
    return this;
  }

  public int length() {
    return length;
  }

  public byte[] toBytes() {
    byte[] bytes = new byte[length];
    int at = 0;
    for (JsonValue piece : pieces) {
      System.arraycopy(piece.bytes(), piece.from(), bytes, at, piece.length());
      at += piece.length();
    }
    return bytes;
  }

  public Reader reader() {
    return new Reader();
  }

  /** Reads the bytes in order. */
  public final class Reader {
    private int piece;
    private int offset;
    private int left = length;

    public int left() {
      return left;
    }

    /** Writes the next {@code count} bytes. */
    public void read(int count, ByteBuf out) {
      int wanted = Math.min(count, left);
      left -= wanted;
      while (wanted > 0) {
        JsonValue current = pieces.get(piece);
        int some = Math.min(wanted, current.length() - offset);
        out.writeBytes(current.bytes(), current.from() + offset, some);
        wanted -= some;
        offset += some;
        if (offset == current.length()) {
          piece++;
          offset = 0;
        }
      }
    }
  }
}
