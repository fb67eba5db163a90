package io.inferspan.pd.json;

import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;

/** A body as a row of byte ranges, most of them ranges of the original. */
final class JsonPieces {
  private final List<JsonValue> pieces = new ArrayList<>();
  private int length;

  void add(byte[] bytes, int from, int to) {
    if (from < to) {
      pieces.add(new JsonValue(bytes, from, to));
      length = Math.addExact(length, to - from);
    }
  }

  void add(byte[] bytes) {
    add(bytes, 0, bytes.length);
  }

  int length() {
    return length;
  }

  void writeTo(ByteBuf out) {
    out.ensureWritable(length);
    for (JsonValue piece : pieces) {
      out.writeBytes(piece.bytes(), piece.from(), piece.length());
    }
  }

  byte[] toBytes() {
    byte[] bytes = new byte[length];
    int at = 0;
    for (JsonValue piece : pieces) {
      System.arraycopy(piece.bytes(), piece.from(), bytes, at, piece.length());
      at += piece.length();
    }
    return bytes;
  }
}
