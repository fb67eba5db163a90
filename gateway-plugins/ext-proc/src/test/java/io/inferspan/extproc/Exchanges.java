package io.inferspan.extproc;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc.ExternalProcessorStub;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpTrailers;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Exchanges written out message by message, without a proxy. */
final class Exchanges {

  private Exchanges() {}

  /** The responses, and the error that ended the stream, or null. */
  record Outcome(List<ProcessingResponse> responses, @Nullable Throwable failure) {}

  static Outcome run(ExternalProcessorStub processor, List<ProcessingRequest> requests)
      throws Exception {
    List<ProcessingResponse> responses = new ArrayList<>();
    CompletableFuture<@Nullable Throwable> ended = new CompletableFuture<>();
    StreamObserver<ProcessingRequest> out =
        processor.process(
            new StreamObserver<>() {
              @Override
              public void onNext(ProcessingResponse response) {
                responses.add(response);
              }

              @Override
              public void onError(Throwable failure) {
                ended.complete(failure);
              }

              @Override
              public void onCompleted() {
                ended.complete(null);
              }
            });
    requests.forEach(out::onNext);
    out.onCompleted();
    return new Outcome(responses, ended.get(10, TimeUnit.SECONDS));
  }

  static ProcessingRequest requestHeaders(boolean endOfStream) {
    return ProcessingRequest.newBuilder()
        .setRequestHeaders(
            HttpHeaders.newBuilder()
                .setHeaders(
                    HeaderMap.newBuilder()
                        .addHeaders(EnvoyMessages.header(":method", "POST"))
                        .addHeaders(EnvoyMessages.header(":path", "/v1/chat/completions")))
                .setEndOfStream(endOfStream))
        .setProtocolConfig(
            ProtocolConfiguration.newBuilder()
                .setRequestBodyMode(BodySendMode.FULL_DUPLEX_STREAMED)
                .setResponseBodyMode(BodySendMode.FULL_DUPLEX_STREAMED))
        .build();
  }

  /** A WebSocket: its handshake, and a frame in each direction. */
  static List<ProcessingRequest> webSocket() {
    ProcessingRequest.Builder asking = requestHeaders(false).toBuilder();
    asking
        .getRequestHeadersBuilder()
        .getHeadersBuilder()
        .addHeaders(EnvoyMessages.header("upgrade", "websocket"));
    ProcessingRequest.Builder switching = responseHeaders().toBuilder();
    switching
        .getResponseHeadersBuilder()
        .getHeadersBuilder()
        .setHeaders(0, EnvoyMessages.header(":status", "101"));
    return List.of(
        asking.build(), switching.build(), requestBody("hello", false), responseBody("hello"));
  }

  /** The handshake of a WebSocket, with a mode for the request's body. */
  static List<ProcessingRequest> handshake(int requestBodyMode) {
    ProcessingRequest.Builder asking = webSocket().get(0).toBuilder();
    asking
        .getProtocolConfigBuilder()
        .setRequestBodyModeValue(requestBodyMode)
        .setResponseBodyMode(BodySendMode.STREAMED);
    return List.of(asking.build(), webSocket().get(1));
  }

  static ProcessingRequest requestBody(String body, boolean endOfStream) {
    return ProcessingRequest.newBuilder().setRequestBody(body(body, endOfStream)).build();
  }

  private static HttpBody body(String body, boolean endOfStream) {
    return HttpBody.newBuilder()
        .setBody(ByteString.copyFromUtf8(body))
        .setEndOfStream(endOfStream)
        .build();
  }

  static ProcessingRequest responseBody(String body) {
    return ProcessingRequest.newBuilder().setResponseBody(body(body, false)).build();
  }

  static ProcessingRequest responseHeaders() {
    return ProcessingRequest.newBuilder()
        .setResponseHeaders(
            HttpHeaders.newBuilder()
                .setHeaders(
                    HeaderMap.newBuilder()
                        .addHeaders(EnvoyMessages.header(":status", "200"))
                        .addHeaders(EnvoyMessages.header("content-type", "application/json"))))
        .build();
  }

  static List<ProcessingRequest> withTrailers(String body) {
    HttpTrailers trailers =
        HttpTrailers.newBuilder()
            .setTrailers(HeaderMap.newBuilder().addHeaders(EnvoyMessages.header("x-sum", "1")))
            .build();
    return List.of(
        requestHeaders(false),
        requestBody(body, false),
        ProcessingRequest.newBuilder().setRequestTrailers(trailers).build(),
        responseHeaders(),
        responseBody("{}"),
        ProcessingRequest.newBuilder().setResponseTrailers(trailers).build());
  }

  static List<ProcessingRequest> observed() {
    return List.of(
            requestHeaders(false),
            requestBody("{}", true),
            responseHeaders(),
            ProcessingRequest.newBuilder().setResponseBody(body("{}", true)).build())
        .stream()
        .map(message -> message.toBuilder().setObservabilityMode(true).build())
        .toList();
  }

  /** Returns the status of a call to an unknown method. */
  static String grpcStatusOfUnknownMethod(ManagedChannel channel) {
    var method =
        io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc.getProcessMethod().toBuilder()
            .setFullMethodName("grpc.Other/Method")
            .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
            .build();
    try {
      ClientCalls.blockingUnaryCall(
          channel,
          method,
          CallOptions.DEFAULT.withDeadlineAfter(10, TimeUnit.SECONDS),
          requestHeaders(true));
      return "OK";
    } catch (StatusRuntimeException e) {
      return e.getStatus().getCode().name();
    }
  }
}
