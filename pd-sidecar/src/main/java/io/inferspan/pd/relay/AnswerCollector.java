package io.inferspan.pd.relay;

import io.inferspan.pd.upstream.ResponseListener;
import io.inferspan.pd.upstream.UpstreamCall;
import io.inferspan.pd.upstream.UpstreamException;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Gathers a whole answer up to a limit; an answer beyond it counts as none. */
public final class AnswerCollector implements ResponseListener {
  private final Consumer<UpstreamCall> send;
  private final Consumer<EngineAnswer> done;
  private final long limit;
  private final ByteArrayOutputStream body = new ByteArrayOutputStream(512);
  private @Nullable UpstreamCall call;
  private @Nullable HttpResponse head;

  public AnswerCollector(long limit, Consumer<UpstreamCall> send, Consumer<EngineAnswer> done) {
    this.limit = limit;
    this.send = send;
    this.done = done;
  }

  @Override
  public void ready(UpstreamCall call) {
    this.call = call;
    send.accept(call);
  }

  @Override
  public void head(HttpResponse head) {
    ForwardedHeaders.fromEngine(head);
    head.headers().remove(HttpHeaderNames.TRANSFER_ENCODING);
    this.head = head;
  }

  @Override
  public void content(ByteBuf content) {
    try {
      if (body.size() + (long) content.readableBytes() <= limit) {
        content.getBytes(content.readerIndex(), body, content.readableBytes());
      } else if (call != null) {
        call.cancel();
        done.accept(EngineAnswer.none(UpstreamException.tooLarge()));
      }
    } catch (IOException e) {
      throw new IllegalStateException("an array takes what fits", e);
    } finally {
      content.release();
    }
  }

  @Override
  public void pause() {}

  @Override
  public void end(HttpHeaders trailers) {
    if (head != null) {
      done.accept(new EngineAnswer(head.status().code(), head.headers(), body.toByteArray(), null));
    }
  }

  @Override
  public void failed(UpstreamException failure) {
    done.accept(EngineAnswer.none(failure));
  }
}
