package io.inferspan.pd.json;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * Finds lines and events in the bytes of an event stream; {@code \n} ends a line, and a preceding
 * {@code \r} belongs to the line ending.
 */
public final class SseLines {
  private static final ByteBuf DATA =
      Unpooled.wrappedBuffer("data:".getBytes(StandardCharsets.US_ASCII));
  private static final int MAX_DEPTH = 1_000;

  private SseLines() {}

  /** Returns the position after the given number of complete events, or -1 if there are fewer. */
  public static int endOfEvents(ByteBuf stream, int count) {
    int events = 0;
    int line = stream.readerIndex();
    boolean inEvent = false;
    for (int end = endOfLine(stream, line); end > 0; end = endOfLine(stream, line)) {
      boolean isBlank = isBlank(stream, line, end);
      if (isBlank && inEvent && ++events == count) {
        return end;
      }
      inEvent = !isBlank;
      line = end;
    }
    return -1;
  }

  /** Visits the JSON objects in the {@code data:} lines; the last line may be unterminated. */
  public static void forEachData(ByteBuf stream, Consumer<JsonObject> visitor) {
    int line = stream.readerIndex();
    while (line < stream.writerIndex()) {
      int end = endOfLine(stream, line);
      int next = end > 0 ? end : stream.writerIndex();
      if (isData(stream, line, next)) {
        byte[] data = ByteBufUtil.getBytes(stream, afterData(line), next - afterData(line));
        JsonObject object = JsonScan.of(data, MAX_DEPTH).object();
        if (object != null) { // else for example [DONE]
          visitor.accept(object);
        }
      }
      line = next;
    }
  }

  /** Returns the position after the line that starts here, or -1 if it is unterminated. */
  static int endOfLine(ByteBuf stream, int from) {
    int lineFeed = stream.indexOf(from, stream.writerIndex(), (byte) '\n');
    return lineFeed < 0 ? -1 : lineFeed + 1;
  }

  private static boolean isBlank(ByteBuf stream, int line, int end) {
    int length = end - line;
    return length == 1 || (length == 2 && stream.getByte(line) == '\r');
  }

  /** Returns whether a line carries data; the value may start with a space. */
  public static boolean isData(ByteBuf stream, int line, int end) {
    return end - line >= DATA.capacity()
        && ByteBufUtil.equals(stream, line, DATA, 0, DATA.capacity());
  }

  /** Returns the position after {@code data:}. */
  static int afterData(int line) {
    return line + DATA.capacity();
  }
}
