package io.inferspan.pd.chunk;

import io.inferspan.pd.relay.BodyFilter;
import io.inferspan.pd.request.DecodeLeg;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.server.ClientExchange;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import org.jspecify.annotations.Nullable;

/** An answer that the proxy puts together itself, piece by piece; rewritten as its leg says. */
final class LocalResponse {
  private final PdRequest request;
  private final ClientExchange exchange;
  private final @Nullable BodyFilter filter;

  LocalResponse(PdRequest request, HttpHeaders headers, DecodeLeg leg) {
    HttpResponse head =
        new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, headers);
    this.request = request;
    this.exchange = request.exchange();
    request.answering(head);
    this.filter = leg.filter() == null ? null : leg.filter().apply(head);
    if (filter != null) {
      headers.remove(HttpHeaderNames.CONTENT_LENGTH);
    }
    exchange.head(head);
  }

  /** Sends a piece at once. */
  void send(ByteBuf content) {
    write(filter == null ? content : filter.rewrite(content));
    exchange.flush();
  }

  private void write(ByteBuf content) {
    if (content.isReadable()) {
      request.seen(content);
      exchange.write(content);
    } else {
      content.release();
    }
  }

  /** Ends the answer. */
  void end() {
    if (filter == null) {
      complete();
    } else {
      filter.end(
          rest -> {
            write(rest);
            complete();
          });
    }
  }

  private void complete() {
    exchange.end(EmptyHttpHeaders.INSTANCE);
    request.delivered();
  }

  /**
   * Aborts the response, so that a partial one is not mistaken for a complete one.
   *
   * @param type the {@code error.type} of the decoder's failure
   */
  void breakOff(String type) {
    discard();
    request.breakOff(type);
  }

  /** The client has gone. */
  void discard() {
    if (filter != null) {
      filter.discard();
    }
  }
}
