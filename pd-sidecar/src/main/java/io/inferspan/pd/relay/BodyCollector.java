package io.inferspan.pd.relay;

import io.inferspan.pd.server.BodyListener;
import io.inferspan.pd.server.ClientExchange;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpUtil;
import java.util.Arrays;

/** Gathers the body of a request up to a limit. */
public final class BodyCollector implements BodyListener {
  private static final byte[] NOTHING = {};
  private static final int FIRST_BYTES = 4 * 1024;
  private static final int LARGEST_ARRAY = Integer.MAX_VALUE - 8;
  private static final int MOST_TRUSTED_BYTES = 1024 * 1024;

  private final long limit;
  private final Taker taker;
  private byte[] bytes;
  private int length;
  private boolean over;

  /** Takes the body once it is complete, or hears that it is too large. */
  public interface Taker {
    void complete(byte[] bytes, int length);

    void tooLarge();
  }

  private BodyCollector(long limit, int expected, Taker taker) {
    this.limit = limit;
    this.taker = taker;
    this.bytes = new byte[expected];
  }

  /** Gathers the body of {@code exchange}, and refuses it early where it says that it is large. */
  public static void collect(ClientExchange exchange, long limit, Taker taker) {
    long bound = Math.min(limit, LARGEST_ARRAY);
    long announced = HttpUtil.getContentLength(exchange.request(), (long) FIRST_BYTES);
    if (announced > bound) {
      taker.tooLarge();
      return;
    }
    exchange.continueBody();
    // What a client announces costs nothing until it comes, so large announcements get less.
    int expected = (int) Math.min(announced, MOST_TRUSTED_BYTES);
    exchange.body(new BodyCollector(bound, expected, taker));
  }

  @Override
  public void content(ByteBuf content) {
    int more = content.readableBytes();
    if (!over && (long) length + more <= limit) {
      room(more);
      content.readBytes(bytes, length, more);
      length += more;
    } else if (!over) {
      over = true;
      bytes = NOTHING;
      taker.tooLarge();
    }
    content.release();
  }

  private void room(int more) {
    if (length + more > bytes.length) {
      long doubled = Math.max(2L * bytes.length, (long) length + more);
      bytes = Arrays.copyOf(bytes, (int) Math.min(doubled, Math.max(limit, length + more)));
    }
  }

  @Override
  public void end(HttpHeaders trailers) {
    if (!over) {
      byte[] whole = bytes;
      // The exchange lives as long as the answer; the body need not.
      bytes = NOTHING;
      taker.complete(whole, length);
    }
  }
}
