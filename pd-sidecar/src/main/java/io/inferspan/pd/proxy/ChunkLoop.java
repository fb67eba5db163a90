package io.inferspan.pd.proxy;

import io.inferspan.pd.config.Settings;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.json.JsonScan;
import io.inferspan.pd.proxy.ChunkedAnswer.ChunkAnswer;
import io.inferspan.pd.request.DecodeLeg;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.request.RequestBody;
import io.inferspan.pd.telemetry.CallTrace;
import io.inferspan.pd.telemetry.Stage;
import io.inferspan.pd.telemetry.StageRun;
import io.inferspan.pd.telemetry.StageTrace;
import io.inferspan.pd.upstream.EngineAnswer;
import io.inferspan.pd.upstream.EngineCall;
import io.inferspan.pd.upstream.ForwardedHeaders;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.UpstreamFailure;
import io.inferspan.pd.upstream.UpstreamFailure.Kind;
import io.inferspan.semconv.PdAttributes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import org.jspecify.annotations.Nullable;

/**
 * Decodes a response in chunks until it is complete or the client has disconnected. A chunk is one
 * call to the decoder with a limited number of tokens.
 */
public final class ChunkLoop {
  /**
   * The maximum number of copies of the generated text in memory while a request or a response is
   * built.
   */
  private static final int COPIES = 6;

  private final PdRequest request;
  private final DecodeLeg leg;
  private final ChunkRequests requests;
  private final boolean streaming;
  private final ChunkedAnswer merged = new ChunkedAnswer();
  private final @Nullable StageTrace stage;
  private final StageTrace trace;
  private final StageRun counted;
  private @Nullable EngineCall open;
  private boolean begun;
  private @Nullable EngineAnswer first;
  private @Nullable EngineAnswer last;
  private long tokens;
  private boolean over;

  /**
   * Decodes in chunks of at most {@code chunkSize} tokens, or in one piece if one chunk is
   * sufficient, if a gate checks the response, or if there is no room for a copy of the request.
   */
  public static void decode(PdRequest request, DecodeLeg leg, int chunkSize) {
    if (leg.gate() != null) {
      request.streamWhole(leg);
      return;
    }
    RequestBody body = request.body();
    boolean same = leg.body().equals(body.original()) && !body.changed();
    // If prefill has changed the body, the requests are made from a copy.
    boolean room = same || body.held().take(leg.body().length());
    int depth = request.config().get(Settings.JSON_DEPTH_LIMIT);
    request.compute(
        body.held(),
        () -> {
          JsonObject json = body.json();
          if (!same) {
            json = room ? JsonScan.of(leg.body().toBytes(), depth).object() : null;
          }
          return json == null ? null : ChunkRequests.of(json, chunkSize);
        },
        requests -> {
          if (requests == null) {
            request.streamWhole(leg);
          } else {
            new ChunkLoop(request, leg, requests).start();
          }
        });
  }

  private ChunkLoop(PdRequest request, DecodeLeg leg, ChunkRequests requests) {
    this.request = request;
    this.leg = leg;
    this.requests = requests;
    this.streaming = request.body().streaming();
    this.stage = request.decision().prefiller() == null ? null : request.trace().decode();
    this.trace = request.trace().chunkedDecode();
    this.counted = request.metrics().begin(Stage.DECODE, trace.spanContext());
  }

  private void start() {
    trace.set(PdAttributes.CHUNK_SIZE, requests.budget());
    trace.set(PdAttributes.CHUNKED_STREAMING, streaming);
    if (stage != null) {
      leg.describe(stage, request);
    }
    request.whenGone(this::cancel);
    askNext();
  }

  private void askNext() {
    JsonPieces body = requests.next(merged.text()).pieces();
    HttpRequest client = request.exchange().request();
    HttpRequest head = ForwardedHeaders.forBody(client, body.length(), leg.headers());
    Target decoder = leg.decoder(request);
    CallTrace call = trace.call("POST", decoder.host(), decoder.port(), head.headers());
    open = request.body().call(head, body, call, this::take);
    request.parts().decoders().start(request.loop(), decoder, open);
  }

  private void take(EngineAnswer answer) {
    if (!answer.ok()) {
      fail(answer.heldBy(request.body().held()));
      return;
    }
    hold(answer);
    request.scan(answer.received(), scan -> take(answer, scan.object()));
  }

  private void take(EngineAnswer answer, @Nullable JsonObject json) {
    if (json == null) {
      fail(new UpstreamFailure(Kind.GARBAGE, "the decoder's answer is not a JSON object"));
      return;
    }
    ChunkAnswer chunk = ChunkAnswer.of(json);
    count(chunk);
    boolean goesOn = chunk.cut() && !chunk.text().isEmpty() && !requests.exhausted() && fits(chunk);
    if (streaming) {
      beginStream(answer);
      send(merged.event(goesOn));
    }
    if (goesOn) {
      askNext();
    } else {
      finish(answer);
    }
  }

  /** Keeps the first and the latest response for the end of the stream. */
  private void hold(EngineAnswer answer) {
    if (first == null) {
      first = answer.heldBy(request.body().held());
    } else {
      releaseLast();
      last = answer;
    }
  }

  private void releaseLast() {
    if (last != null) {
      last.release();
      last = null;
    }
  }

  private void count(ChunkAnswer chunk) {
    // If an engine reports no token count for a response that was cut off, it has used its budget.
    long counted = chunk.tokens() > 0 || !chunk.cut() ? chunk.tokens() : requests.budget();
    requests.generated(counted);
    tokens += counted;
    merged.add(chunk);
  }

  /** Returns whether the next request, which contains the whole text, is within the body limit. */
  private boolean fits(ChunkAnswer chunk) {
    return merged.length() < request.config().get(Settings.BODY_LIMIT)
        && request.body().held().take((long) COPIES * chunk.text().length());
  }

  private void beginStream(EngineAnswer answer) {
    if (!begun) {
      begin(headers(answer).set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream"));
    }
  }

  private void begin(HttpHeaders headers) {
    begun = true;
    HttpResponse head =
        new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, headers);
    request.answer().begin(head, leg.cachedTokens(), _ -> {});
  }

  private void send(ByteBuf piece) {
    request.answer().write(piece);
    request.answer().flush();
  }

  private static HttpHeaders headers(EngineAnswer answer) {
    return answer.headers().copy().remove(HttpHeaderNames.CONTENT_LENGTH);
  }

  private void finish(EngineAnswer answer) {
    counted.ended();
    endTraces();
    if (streaming) {
      beginStream(answer);
      send(merged.ending());
    } else {
      byte[] body = merged.whole();
      begin(headers(answer).set(HttpHeaderNames.CONTENT_LENGTH, body.length));
      send(Unpooled.wrappedBuffer(body));
    }
    request.answer().end(EmptyHttpHeaders.INSTANCE, request::delivered);
  }

  private void fail(EngineAnswer answer) {
    if (answer.failure() != null) {
      fail(answer.failure());
      return;
    }
    String type = Integer.toString(answer.status());
    failTraces(type);
    counted.failed();
    if (begun) {
      send(ChunkedAnswer.event(answer.body()));
      // Truncated, so that a partial response is not mistaken for a complete one.
      request.answer().discard();
      request.breakOff(type);
    } else {
      request.deliver(answer);
    }
  }

  private void fail(UpstreamFailure failure) {
    failTraces(failure.type());
    counted.failed();
    request.decoderFailed(failure);
  }

  private void cancel() {
    if (!over) {
      String reason = request.givenUpBecause().type();
      if (open != null) {
        open.cancel(reason);
      }
      request.answer().discard();
      failTraces(reason);
    }
  }

  private void failTraces(String type) {
    trace.fail(type, "chunk decode failed");
    if (stage != null) {
      stage.fail(type, "decode request failed");
    }
    endTraces();
  }

  private void endTraces() {
    over = true;
    releaseLast();
    trace.set(PdAttributes.CHUNKS, (long) merged.chunks());
    trace.set(PdAttributes.CHUNKED_TOKENS, tokens);
    trace.endChunks();
    if (stage != null) {
      stage.endDecode();
    }
  }
}
