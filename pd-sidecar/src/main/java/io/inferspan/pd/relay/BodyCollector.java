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
  private static final int MOST_TRUSTED_BYTES = 256 * 1024;

  private final long limit;
  private final HeldBodies.Share share;
  private final Taker taker;
  private byte[] bytes;
  private int length;
  private boolean over;

  /** Takes the body once it is complete, or hears why it cannot be had. */
  public interface Taker {
    void complete(byte[] bytes, int length);

    void tooLarge();

    /** All bodies together would take too much memory. */
    void noRoom();
  }

  private BodyCollector(long limit, int expected, HeldBodies.Share share, Taker taker) {
    this.limit = limit;
    this.share = share;
    this.taker = taker;
    this.bytes = new byte[expected];
  }

  /**
   * Gathers the body of {@code exchange}, and refuses it early where it says that it is large.
   *
   * @param share takes what the body takes; who opened it releases it
   */
  public static void collect(
      ClientExchange exchange, long limit, HeldBodies.Share share, Taker taker) {
    long bound = Math.min(limit, LARGEST_ARRAY);
    long announced = HttpUtil.getContentLength(exchange.request(), (long) FIRST_BYTES);
    if (announced > bound) {
      taker.tooLarge();
      return;
    }
    // What a client announces costs nothing until it comes, so large announcements get less.
    int expected = (int) Math.min(announced, MOST_TRUSTED_BYTES);
    if (!share.grow(expected)) {
      taker.noRoom();
      return;
    }
    exchange.continueBody();
    exchange.body(new BodyCollector(bound, expected, share, taker));
  }

  @Override
  public void content(ByteBuf content) {
    int more = content.readableBytes();
    if (over) {
      content.release();
      return;
    }
    if ((long) length + more > limit) {
      giveUp();
      taker.tooLarge();
    } else if (room(more)) {
      content.readBytes(bytes, length, more);
      length += more;
    } else {
      giveUp();
      taker.noRoom();
    }
    content.release();
  }

  private void giveUp() {
    over = true;
    bytes = NOTHING;
  }

  private boolean room(int more) {
    if (length + more <= bytes.length) {
      return true;
    }
    long doubled = Math.max(2L * bytes.length, (long) length + more);
    int wanted = (int) Math.min(doubled, Math.max(limit, length + more));
    if (!share.grow(wanted - bytes.length)) {
      return false;
    }
    bytes = Arrays.copyOf(bytes, wanted);
    return true;
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
