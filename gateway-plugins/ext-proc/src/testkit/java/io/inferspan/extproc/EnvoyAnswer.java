package io.inferspan.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.CommonResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.ImmediateResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.StreamedBodyResponse;
import io.inferspan.extproc.proto.Envoy.BodyMode;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpServerResponse;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Sends an engine's response through the processor to the client, as Envoy does. */
final class EnvoyAnswer {

  /** The number of bytes at the processor above which the engine's response is paused. */
  private static final int MAX_ON_THE_WAY = 256 * 1024;

  private final EnvoyStream stream;
  private final HttpServerResponse answer;
  private final Queue<Buffer> passing = new ArrayDeque<>();
  private @Nullable HttpClientResponse engine;
  private int onTheWay;
  private int localStatus;
  private String localBody = "";

  EnvoyAnswer(EnvoyStream stream, HttpServerResponse answer) {
    this.stream = stream;
    this.answer = answer;
  }

  void engineLost() {
    if (engine == null) {
      localReplyThroughProcessor(503, "upstream connect error or disconnect");
    } else {
      // In the middle of a response, Envoy can only close the client's connection.
      stream.cutClientOff();
    }
  }

  void engineHead(HttpClientResponse response) {
    engine = response;
    response.pause();
    response.exceptionHandler(lost -> engineLost());
    MultiMap all = MultiMap.caseInsensitiveMultiMap();
    all.add(":status", Integer.toString(response.statusCode())).addAll(response.headers());
    ProcessingRequest.Builder message =
        ProcessingRequest.newBuilder()
            .setResponseHeaders(
                HttpHeaders.newBuilder().setHeaders(EnvoyMessages.headers(all)).build());
    String served = stream.served();
    if (served != null) {
      message.setMetadataContext(EnvoyMessages.served(served));
    }
    stream.send(message);
  }

  void headers(CommonResponse common) {
    if (engine == null) {
      localReply(localStatus, MultiMap.caseInsensitiveMultiMap(), localBody);
      return;
    }
    MultiMap passed = MultiMap.caseInsensitiveMultiMap().addAll(engine.headers());
    EnvoyMessages.apply(common.getHeaderMutation(), passed);
    answer.setStatusCode(engine.statusCode());
    EnvoyStream.OF_THE_CONNECTION.forEach(passed::remove);
    answer.headers().addAll(passed);
    answer.setChunked(true);
    engine.handler(this::responseBytes);
    engine.endHandler(end -> responseEnd());
    engine.resume();
  }

  private void responseBytes(Buffer bytes) {
    switch (stream.responseMode()) {
      case FULL_DUPLEX_STREAMED -> tellResponseBody(bytes, false);
      case STREAMED -> {
        passing.add(bytes);
        tellResponseBody(bytes, false);
      }
      default -> toClient(bytes);
    }
  }

  private void responseEnd() {
    switch (stream.responseMode()) {
      case FULL_DUPLEX_STREAMED -> tellResponseBody(Buffer.buffer(), true);
      case STREAMED -> {
        passing.add(Buffer.buffer());
        tellResponseBody(Buffer.buffer(), true);
      }
      default -> finish();
    }
  }

  private void tellResponseBody(Buffer bytes, boolean end) {
    onTheWay += bytes.length();
    flow();
    stream.send(ProcessingRequest.newBuilder().setResponseBody(EnvoyStream.body(bytes, end)));
  }

  /** Pauses the engine's response while the client or the processor is slow. */
  private void flow() {
    if (engine == null) {
      return;
    }
    if (onTheWay > MAX_ON_THE_WAY || answer.writeQueueFull()) {
      engine.pause();
    } else {
      engine.resume();
    }
  }

  void body(CommonResponse common) {
    if (stream.responseMode() == BodyMode.FULL_DUPLEX_STREAMED) {
      StreamedBodyResponse piece = common.getBodyMutation().getStreamedResponse();
      EnvoyStream.assertThatPieceFits(piece.getBody());
      onTheWay -= piece.getBody().size();
      toClient(Buffer.buffer(piece.getBody().toByteArray()));
      if (piece.getEndOfStream()) {
        finish();
      }
      return;
    }
    Buffer bytes = passing.remove();
    onTheWay -= bytes.length();
    if (bytes.length() > 0) {
      toClient(bytes);
    } else {
      finish();
    }
  }

  private void toClient(Buffer bytes) {
    if (bytes.length() == 0 || stream.isDone()) {
      return;
    }
    answer.write(bytes);
    answer.drainHandler(drained -> flow());
    flow();
  }

  private void finish() {
    if (!stream.isDone()) {
      answer.end();
      stream.finish();
    }
  }

  // Responses that Envoy itself creates.

  /**
   * Sends a response that Envoy itself creates. It passes through the processor, like an engine's.
   */
  void localReplyThroughProcessor(int status, String body) {
    localStatus = status;
    localBody = body;
    MultiMap all = MultiMap.caseInsensitiveMultiMap().add(":status", Integer.toString(status));
    stream.send(
        ProcessingRequest.newBuilder()
            .setResponseHeaders(
                HttpHeaders.newBuilder()
                    .setHeaders(EnvoyMessages.headers(all))
                    .setEndOfStream(true)));
  }

  void immediate(ImmediateResponse response) {
    MultiMap extra = MultiMap.caseInsensitiveMultiMap();
    EnvoyMessages.apply(response.getHeaders(), extra);
    localReply(response.getStatus().getCodeValue(), extra, response.getBody().toStringUtf8());
  }

  void localReply(int status, MultiMap extra, String body) {
    if (stream.isDone()) {
      return;
    }
    answer.setStatusCode(status);
    answer.headers().addAll(extra);
    answer.end(body);
    stream.finish();
  }
}
