package io.inferspan.pd.stage;

import io.inferspan.pd.relay.BodyFilter;
import io.inferspan.pd.server.ClientExchange;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An answer that the proxy puts together itself, piece by piece. */
public final class OwnAnswer {
  private final LiveRequest live;
  private final ClientExchange exchange;
  private final @Nullable BodyFilter filter;

  private OwnAnswer(LiveRequest live, @Nullable BodyFilter filter) {
    this.live = live;
    this.exchange = live.exchange();
    this.filter = filter;
  }

  static OwnAnswer begin(LiveRequest live, HttpHeaders headers, DecodeLeg leg) {
    HttpResponse head =
        new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, headers);
    live.answering(head);
    Function<HttpResponse, @Nullable BodyFilter> rewriting = leg.filter();
    BodyFilter filter = rewriting == null ? null : rewriting.apply(head);
    if (filter != null) {
      headers.remove(HttpHeaderNames.CONTENT_LENGTH);
    }
    live.exchange().head(head);
    return new OwnAnswer(live, filter);
  }

  /** Sends a piece at once. */
  public void send(ByteBuf content) {
    write(filter == null ? content : filter.rewrite(content));
    exchange.flush();
  }

  private void write(ByteBuf content) {
    if (content.isReadable()) {
      live.seen(content);
      exchange.write(content);
    } else {
      content.release();
    }
  }

  /** Ends the answer. */
  public void end() {
    if (filter != null) {
      write(filter.end());
    }
    exchange.end(EmptyHttpHeaders.INSTANCE);
    live.delivered();
  }

  /**
   * Breaks the answer off, so that nobody takes what was sent for all of it.
   *
   * @param type the {@code error.type} of the decoder's failure
   */
  public void breakOff(String type) {
    if (filter != null) {
      filter.discard();
    }
    live.breakOff(type);
  }
}
