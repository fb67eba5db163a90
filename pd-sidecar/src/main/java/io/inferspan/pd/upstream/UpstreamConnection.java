package io.inferspan.pd.upstream;

import io.inferspan.pd.upstream.UpstreamFailure.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/** A connection to an engine, which serves calls sequentially. */
final class UpstreamConnection extends ChannelInboundHandlerAdapter {
  private static final int FIRST_STATUS = 100;
  private static final int LAST_STATUS = 999;

  /**
   * The time within which a request fails if the engine had already closed the idle connection:
   * more than a round trip.
   */
  private static final long STALE_NANOS = 1_000_000_000;

  private static final Logger LOGGER = System.getLogger("io.inferspan.pd");

  private final Upstreams pool;
  private final Target target;
  private @Nullable Channel channel;
  private @Nullable EngineCall call;
  private boolean reused;
  private boolean answered;
  private boolean interim;
  private boolean keepAlive;
  private boolean requestSent;
  private boolean spent;
  private boolean framed;
  private boolean broken;
  private boolean raw;
  private @Nullable HttpResponse switching;
  private long idleSince;
  private long begunNanos;

  UpstreamConnection(Upstreams pool, Target target) {
    this.pool = pool;
    this.target = target;
  }

  Target target() {
    return target;
  }

  Channel channel() {
    if (channel == null) {
      throw new IllegalStateException("the connection is not in a pipeline yet");
    }
    return channel;
  }

  long idleSince() {
    return idleSince;
  }

  void begin(EngineCall next, boolean reused) {
    if (next.over()) {
      toPool();
      return;
    }
    this.call = next;
    this.reused = reused;
    begunNanos = System.nanoTime();
    answered = false;
    interim = false;
    keepAlive = false;
    requestSent = false;
    switching = null;
    try {
      next.begin(this);
    } catch (RuntimeException | OutOfMemoryError e) {
      fault(next, e);
    }
  }

  void write(Object part) {
    channel().write(part, channel().voidPromise());
  }

  void write(Object part, Runnable written) {
    channel().write(part, channel().newPromise().addListener(_ -> written.run()));
  }

  void requestSent() {
    requestSent = true;
  }

  void flush() {
    channel().flush();
  }

  boolean writable() {
    return channel().isWritable();
  }

  void reading(boolean on) {
    channel().config().setAutoRead(on);
  }

  void close() {
    call = null;
    channel().close();
  }

  /** Closes the connection and ends its call, because the proxy stops. */
  void stop() {
    EngineCall unanswered = call;
    close();
    if (unanswered != null) {
      unanswered.fail(UpstreamFailure.shutdown());
    }
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    channel = context.channel();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object part) {
    EngineCall answering = call;
    try {
      read(context, part);
    } catch (RuntimeException | OutOfMemoryError e) {
      fault(answering, e);
    }
  }

  private void read(ChannelHandlerContext context, Object part) {
    if (call == null) {
      // Data without a request: the connection cannot be used any more.
      ReferenceCountUtil.release(part);
      spent = false;
      context.close();
    } else if (part instanceof ByteBuf bytes) {
      call.content(bytes);
    } else if (part instanceof HttpResponse head) {
      readHead(call, head);
    } else if (part instanceof HttpContent content) {
      readContent(call, content);
    }
  }

  private void readHead(EngineCall answering, HttpResponse head) {
    if (head.decoderResult().isFailure() || !plausible(head)) {
      fail(Kind.GARBAGE, "malformed HTTP response");
      return;
    }
    interim = head.status().codeClass() == HttpStatusClass.INFORMATIONAL;
    answered = true;
    if (head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
      if (answering.upgrading()) {
        switching = head;
      } else {
        fail(Kind.GARBAGE, "an unrequested protocol switch");
      }
    } else if (!interim) {
      keepAlive = HttpUtil.isKeepAlive(head);
      framed =
          HttpUtil.isTransferEncodingChunked(head)
              || head.headers().contains(HttpHeaderNames.CONTENT_LENGTH);
      answering.head(head);
    }
  }

  private static boolean plausible(HttpResponse head) {
    int status = head.status().code();
    String coding = head.headers().get(HttpHeaderNames.TRANSFER_ENCODING);
    boolean decodable =
        coding == null || HttpHeaderValues.CHUNKED.contentEqualsIgnoreCase(coding.strip());
    return decodable
        && head.protocolVersion().majorVersion() == 1
        && status >= FIRST_STATUS
        && status <= LAST_STATUS;
  }

  /** Passes raw bytes in both directions, until one side closes. */
  private void leaveHttp(EngineCall answering, HttpResponse head) {
    raw = true;
    HttpClientCodec codec = channel().pipeline().get(HttpClientCodec.class);
    ChannelHandlerContext context = channel().pipeline().context(codec);
    codec.prepareUpgradeFrom(context);
    answering.switched();
    answering.head(head);
    // After the head: this call passes on the codec's remaining bytes, which follow the head.
    codec.upgradeFrom(context);
  }

  private void readContent(EngineCall answering, HttpContent content) {
    if (content.decoderResult().isFailure()) {
      content.release();
      fail(Kind.GARBAGE, "malformed HTTP body");
    } else if (interim) {
      content.release();
      if (switching != null) {
        leaveHttp(answering, switching);
      }
    } else {
      boolean last = content instanceof LastHttpContent;
      if (content.content().isReadable() && !answering.over()) {
        answering.content(content.content());
      } else {
        content.release();
      }
      if (last) {
        complete(answering, ((LastHttpContent) content).trailingHeaders());
      }
    }
  }

  private void complete(EngineCall answering, HttpHeaders trailers) {
    if (answering.equals(call)) {
      call = null;
      if (keepAlive && requestSent && !broken) {
        // The rest of this read would be mistaken for the response to the next request.
        spent = true;
      } else {
        close();
      }
    }
    if (broken && !framed) {
      answering.fail(brokenOff());
    } else {
      answering.end(trailers);
    }
  }

  private void toPool() {
    call = null;
    idleSince = System.nanoTime();
    reading(true);
    pool.release(this);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    EngineCall answering = call;
    if (spent) {
      spent = false;
      toPool();
    } else if (answering != null && answered) {
      try {
        answering.pause();
      } catch (RuntimeException | OutOfMemoryError e) {
        fault(answering, e);
      }
    }
  }

  /** Ends a call after an internal error, so that the client does not wait. */
  private void fault(@Nullable EngineCall faulty, Throwable cause) {
    String traceId = faulty == null ? "" : ", trace_id=" + faulty.traceId();
    LOGGER.log(Level.WARNING, "A call to " + target + " failed inside the proxy" + traceId, cause);
    spent = false;
    close();
    if (faulty != null) {
      faulty.fault(cause);
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    if (call != null && context.channel().isWritable()) {
      call.resume();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    EngineCall unanswered = call;
    call = null;
    if (unanswered == null) {
      pool.lost(this);
    } else if (reused && !answered && unanswered.replayable() && !unanswered.over()) {
      pool.connect(context.channel().eventLoop(), target, unanswered);
    } else if (reused && !answered && System.nanoTime() - begunNanos < STALE_NANOS) {
      unanswered.fail(
          new UpstreamFailure(
              Kind.STALE, "the idle connection to " + target + " ended; send the request again"));
    } else if (raw && !broken) {
      unanswered.end(EmptyHttpHeaders.INSTANCE);
    } else {
      unanswered.fail(brokenOff());
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    // After a reset, the channel also becomes inactive, which ends the call. A response that ends
    // with its connection must then not count as complete.
    broken = true;
    // An engine that stopped reading may have sent a response, which is still to be read.
    if (!(cause instanceof IOException)) {
      context.close();
    }
  }

  private UpstreamFailure brokenOff() {
    return new UpstreamFailure(Kind.RESET, "the connection to " + target + " ended early");
  }

  private void fail(Kind kind, String what) {
    EngineCall failing = call;
    call = null;
    if (failing != null) {
      failing.fail(new UpstreamFailure(kind, what + " from " + target));
    }
    close();
  }
}
