package io.inferspan.extproc;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode;
import io.envoyproxy.envoy.service.ext_proc.v3.CommonResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;
import io.envoyproxy.envoy.service.ext_proc.v3.StreamedBodyResponse;
import io.grpc.stub.StreamObserver;
import io.inferspan.extproc.proto.Envoy.BodyMode;
import io.inferspan.gateway.vertx.VertxGateway;
import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.RequestOptions;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** Sends the parts of one exchange to the processor and applies its responses, like Envoy. */
final class EnvoyStream implements StreamObserver<ProcessingResponse> {

  static final List<String> OF_THE_CONNECTION =
      List.of("connection", "host", "transfer-encoding", "keep-alive", "upgrade");

  private final EnvoyStandIn envoy;
  private final HttpServerRequest client;
  private final HttpServerResponse answer;
  private final Context context;
  private final EnvoyAnswer response;
  private final MultiMap headers = MultiMap.caseInsensitiveMultiMap();
  private final Queue<Buffer> passing = new ArrayDeque<>();
  private final StreamObserver<ProcessingRequest> processor;
  private BodyMode requestMode;
  private BodyMode responseMode;
  private boolean first = true;
  private boolean done;
  private Buffer held = Buffer.buffer();
  private boolean requestEnded;
  private boolean requestBodyDone;
  private String destination = "";
  private @Nullable HttpClientRequest upstream;

  EnvoyStream(EnvoyStandIn envoy, HttpServerRequest client) {
    this.envoy = envoy;
    this.client = client;
    this.answer = client.response();
    this.context = envoy.vertx().getOrCreateContext();
    this.response = new EnvoyAnswer(this, client.response());
    this.processor = envoy.processor().process(this);
    this.requestMode = envoy.setup().request();
    this.responseMode = envoy.setup().response();
  }

  void begin() {
    client.pause();
    client.headers().forEach((name, value) -> headers.add(name, value));
    client.exceptionHandler(gone -> destroy());
    answer.exceptionHandler(gone -> destroy());
    answer.closeHandler(gone -> destroy());
    boolean bodyless = client.method().name().equals("GET");
    MultiMap all = MultiMap.caseInsensitiveMultiMap();
    all.add(":method", client.method().name()).add(":path", client.uri());
    all.add(":scheme", "http").add(":authority", String.valueOf(client.authority()));
    all.addAll(headers);
    send(
        ProcessingRequest.newBuilder()
            .setRequestHeaders(
                HttpHeaders.newBuilder()
                    .setHeaders(EnvoyMessages.headers(all))
                    .setEndOfStream(bodyless)));
    requestEnded = bodyless;
    if (requestMode == BodyMode.FULL_DUPLEX_STREAMED) {
      // The processor may send back a different body.
      headers.remove("content-length");
    }
    if (!bodyless && requestMode == BodyMode.FULL_DUPLEX_STREAMED) {
      readRequest();
    }
  }

  void send(ProcessingRequest.Builder message) {
    if (done) {
      return;
    }
    if (first && envoy.setup().tellsModes()) {
      message.setProtocolConfig(
          ProtocolConfiguration.newBuilder()
              .setRequestBodyMode(mode(requestMode))
              .setResponseBodyMode(mode(responseMode)));
    }
    if (first && envoy.setup().subset() != null) {
      message.setMetadataContext(EnvoyMessages.subset(envoy.setup().subset()));
    }
    if (first) {
      message.putAttributes(EnvoyMessages.FILTER, EnvoyMessages.source(client.remoteAddress()));
    }
    first = false;
    ProcessingRequest whole = message.build();
    envoy.record(whole);
    processor.onNext(whole);
  }

  private static ProcessingMode.BodySendMode mode(BodyMode mode) {
    return ProcessingMode.BodySendMode.valueOf(mode.name());
  }

  // The request's body, on its way to the processor.

  private void readRequest() {
    client.handler(this::requestBytes);
    client.endHandler(end -> requestEnd());
    client.resume();
  }

  private void requestBytes(Buffer bytes) {
    switch (requestMode) {
      case FULL_DUPLEX_STREAMED -> tellRequestBody(bytes, false);
      case STREAMED -> {
        passing.add(bytes);
        tellRequestBody(bytes, false);
      }
      case BUFFERED, BUFFERED_PARTIAL -> held.appendBuffer(bytes);
      case NONE, UNRECOGNIZED -> engineCall().write(bytes);
    }
  }

  private void requestEnd() {
    requestEnded = true;
    switch (requestMode) {
      case FULL_DUPLEX_STREAMED -> tellRequestBody(Buffer.buffer(), true);
      case STREAMED -> {
        passing.add(Buffer.buffer());
        tellRequestBody(Buffer.buffer(), true);
      }
      case BUFFERED, BUFFERED_PARTIAL -> tellRequestBody(held, true);
      case NONE, UNRECOGNIZED -> engineCall().end();
    }
  }

  private void tellRequestBody(Buffer bytes, boolean end) {
    send(ProcessingRequest.newBuilder().setRequestBody(body(bytes, end)));
  }

  static HttpBody body(Buffer bytes, boolean end) {
    return HttpBody.newBuilder()
        .setBody(ByteString.copyFrom(bytes.getBytes()))
        .setEndOfStream(end)
        .build();
  }

  // The processor's responses.

  @Override
  public void onNext(ProcessingResponse response) {
    envoy.record(response);
    context.runOnContext(
        on -> {
          try {
            if (!done) {
              answered(response);
            }
          } catch (RuntimeException | AssertionError e) {
            // Thrown on the event loop, it would leave the client waiting without a reason.
            processorFailed(e);
          }
        });
  }

  @Override
  public void onError(Throwable failure) {
    try {
      context.runOnContext(on -> processorFailed(failure));
    } catch (RejectedExecutionException closing) {
      // The stand-in is being closed, and its client is gone as well.
    }
  }

  private void processorFailed(Throwable failure) {
    if (!done) {
      envoy.record(failure);
      response.localReply(500, MultiMap.caseInsensitiveMultiMap(), "ext_proc failed");
    }
  }

  @Override
  public void onCompleted() {
    onError(new IllegalStateException("the processor ended the call before the exchange"));
  }

  private void answered(ProcessingResponse message) {
    if (message.hasDynamicMetadata()) {
      destination = EnvoyMessages.destination(message.getDynamicMetadata());
    }
    switch (message.getResponseCase()) {
      case REQUEST_HEADERS -> requestHeaders(message);
      case REQUEST_BODY -> requestBody(message.getRequestBody().getResponse());
      case RESPONSE_HEADERS -> {
        override(message);
        response.headers(message.getResponseHeaders().getResponse());
      }
      case RESPONSE_BODY -> response.body(message.getResponseBody().getResponse());
      case IMMEDIATE_RESPONSE -> response.immediate(message.getImmediateResponse());
      default -> throw new AssertionError("unexpected response: " + message.getResponseCase());
    }
  }

  private void override(ProcessingResponse message) {
    if (message.hasModeOverride() && envoy.setup().allowsOverride()) {
      requestMode = BodyMode.valueOf(message.getModeOverride().getRequestBodyMode().name());
      responseMode = BodyMode.valueOf(message.getModeOverride().getResponseBodyMode().name());
    }
  }

  private void requestHeaders(ProcessingResponse message) {
    override(message);
    EnvoyMessages.apply(message.getRequestHeaders().getResponse().getHeaderMutation(), headers);
    boolean bodyDecides =
        requestMode == BodyMode.BUFFERED || requestMode == BodyMode.BUFFERED_PARTIAL;
    if (bodyDecides && !requestEnded) {
      readRequest();
    } else {
      connect();
    }
  }

  private void requestBody(CommonResponse common) {
    switch (requestMode) {
      case FULL_DUPLEX_STREAMED -> {
        StreamedBodyResponse piece = common.getBodyMutation().getStreamedResponse();
        assertThatPieceFits(piece.getBody());
        passing.add(Buffer.buffer(piece.getBody().toByteArray()));
        requestBodyDone |= piece.getEndOfStream();
        flushRequest();
      }
      case STREAMED -> {
        Buffer bytes = passing.remove();
        if (bytes.length() > 0) {
          engineCall().write(bytes);
        } else {
          engineCall().end();
        }
      }
      default -> {
        EnvoyMessages.apply(common.getHeaderMutation(), headers);
        if (common.hasBodyMutation()) {
          held = Buffer.buffer(common.getBodyMutation().getBody().toByteArray());
          assertThatLengthIsTold();
        }
        passing.add(held);
        requestBodyDone = true;
        connect();
      }
    }
  }

  /** Fails, as Envoy does, if the changed body does not have the length in its headers. */
  private void assertThatLengthIsTold() {
    String told = headers.get("content-length");
    if (told != null && Integer.parseInt(told) != held.length()) {
      throw new AssertionError("a body of " + held.length() + " bytes has content-length " + told);
    }
  }

  static void assertThatPieceFits(ByteString piece) {
    if (piece.size() > 64 * 1024) {
      throw new AssertionError("a piece has " + piece.size() + " bytes; Envoy accepts 64 KiB");
    }
  }

  // The engine.

  private void connect() {
    if (destination.isEmpty()) {
      response.localReplyThroughProcessor(503, "no healthy upstream");
      return;
    }
    if (!destination.equals(headers.get("x-gateway-destination-endpoint"))) {
      throw new AssertionError("header and metadata name different endpoints");
    }
    String[] target = destination.split(",", -1)[0].split(":", -1);
    RequestOptions options =
        new RequestOptions()
            .setMethod(client.method())
            .setHost(target[0])
            .setPort(Integer.parseInt(target[1]))
            .setURI(client.uri());
    envoy
        .upstream()
        .request(options)
        .onComplete(
            opened -> {
              if (opened.failed()) {
                response.localReplyThroughProcessor(503, "upstream connect error");
              } else {
                connected(opened.result());
              }
            });
  }

  private void connected(HttpClientRequest opened) {
    upstream = opened;
    if (done) {
      opened.reset();
      return;
    }
    headers.forEach(
        (name, value) -> {
          if (!OF_THE_CONNECTION.contains(name.toLowerCase(Locale.ROOT))) {
            opened.headers().add(name, value);
          }
        });
    opened
        .response()
        .compose(VertxGateway::requireFinal) // Envoy ignores interim responses
        .onSuccess(response::engineHead)
        .onFailure(lost -> response.engineLost());
    if (client.method().name().equals("GET")) {
      opened.end();
      return;
    }
    opened.setChunked(!opened.headers().contains("content-length"));
    if (requestMode == BodyMode.STREAMED || requestMode == BodyMode.NONE) {
      readRequest();
    } else {
      flushRequest();
    }
  }

  private HttpClientRequest engineCall() {
    return Objects.requireNonNull(upstream);
  }

  private void flushRequest() {
    if (upstream == null) {
      return;
    }
    for (Buffer bytes = passing.poll(); bytes != null; bytes = passing.poll()) {
      if (bytes.length() > 0) {
        engineCall().write(bytes);
      }
    }
    if (requestBodyDone) {
      engineCall().end();
    }
  }

  /** Returns the endpoint that answered, if the stand-in reports it. */
  @Nullable String served() {
    String served = envoy.setup().served();
    return "".equals(served) ? destination.split(",", -1)[0] : served;
  }

  BodyMode responseMode() {
    return responseMode;
  }

  boolean isDone() {
    return done;
  }

  /** Ends the exchange after the client's response is complete. */
  void finish() {
    if (done) {
      return;
    }
    done = true;
    if (!client.isEnded()) {
      client.resume();
    }
    processor.onCompleted();
  }

  void cutClientOff() {
    destroy();
    client.connection().close();
  }

  /** Ends the exchange because the client or the engine has disconnected. */
  void destroy() {
    if (done) {
      return;
    }
    done = true;
    processor.onCompleted();
    if (upstream != null) {
      upstream.reset();
    }
  }
}
