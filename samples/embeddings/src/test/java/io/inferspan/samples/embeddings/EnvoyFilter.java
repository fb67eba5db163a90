package io.inferspan.samples.embeddings;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor;
import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse.ResponseCase;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;
import io.envoyproxy.envoy.service.ext_proc.v3.StreamedBodyResponse;
import io.grpc.ManagedChannel;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Behaves like Envoy's filter for one request, with the settings of the configuration. */
final class EnvoyFilter implements AutoCloseable, StreamObserver<ProcessingResponse> {

  private static final long LIMIT_SECONDS = 10;

  private final ExternalProcessor setup;
  private final ManagedChannel channel;
  private final BlockingQueue<ProcessingResponse> answers = new LinkedBlockingQueue<>();
  private final CompletableFuture<Boolean> ended = new CompletableFuture<>();
  private final StreamObserver<ProcessingRequest> processor;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  EnvoyFilter(ExternalProcessor setup, int processorPort) {
    this.setup = setup;
    this.channel =
        OkHttpChannelBuilder.forAddress("127.0.0.1", processorPort)
            .usePlaintext()
            .directExecutor()
            .build();
    this.processor = ExternalProcessorGrpc.newStub(channel).process(this);
  }

  /** Returns the response that a client would get. */
  String pass(Map<String, String> arriving, String body) throws Exception {
    processor.onNext(
        ProcessingRequest.newBuilder()
            .setRequestHeaders(headers(arriving))
            .setProtocolConfig(
                ProtocolConfiguration.newBuilder()
                    .setRequestBodyMode(setup.getProcessingMode().getRequestBodyMode())
                    .setResponseBodyMode(setup.getProcessingMode().getResponseBodyMode()))
            .build());
    processor.onNext(
        ProcessingRequest.newBuilder()
            .setRequestBody(body(body.getBytes(StandardCharsets.UTF_8)))
            .build());
    Map<String, String> leaving = mutated(arriving, take(ResponseCase.REQUEST_HEADERS));
    byte[] asked = streamed(ResponseCase.REQUEST_BODY);

    HttpResponse<byte[]> answer = callEngine(leaving, asked);
    processor.onNext(
        ProcessingRequest.newBuilder().setResponseHeaders(headers(answerHeaders(answer))).build());
    take(ResponseCase.RESPONSE_HEADERS);
    processor.onNext(ProcessingRequest.newBuilder().setResponseBody(body(answer.body())).build());
    byte[] shown = streamed(ResponseCase.RESPONSE_BODY);
    processor.onCompleted();
    ended.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    return new String(shown, StandardCharsets.UTF_8);
  }

  private HttpResponse<byte[]> callEngine(Map<String, String> leaving, byte[] body)
      throws Exception {
    HttpRequest.Builder call =
        HttpRequest.newBuilder(
                URI.create(
                    "http://"
                        + leaving.get("x-gateway-destination-endpoint")
                        + leaving.get(":path")))
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    leaving.forEach(
        (name, value) -> {
          // The client sets the content length itself.
          if (!name.startsWith(":") && !name.equals("content-length")) {
            call.header(name, value);
          }
        });
    return client.send(call.build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  private static Map<String, String> answerHeaders(HttpResponse<byte[]> answer) {
    return Map.of(
        ":status", Integer.toString(answer.statusCode()),
        "content-type", answer.headers().firstValue("content-type").orElse(""));
  }

  private static HttpHeaders headers(Map<String, String> headers) {
    HeaderMap.Builder map = HeaderMap.newBuilder();
    headers.forEach(
        (name, value) ->
            map.addHeaders(
                HeaderValue.newBuilder().setKey(name).setRawValue(ByteString.copyFromUtf8(value))));
    return HttpHeaders.newBuilder().setHeaders(map).build();
  }

  private static HttpBody body(byte[] bytes) {
    return HttpBody.newBuilder().setBody(ByteString.copyFrom(bytes)).setEndOfStream(true).build();
  }

  private static Map<String, String> mutated(
      Map<String, String> arriving, ProcessingResponse response) {
    Map<String, String> leaving = new LinkedHashMap<>(arriving);
    var mutation = response.getRequestHeaders().getResponse().getHeaderMutation();
    mutation.getRemoveHeadersList().forEach(leaving::remove);
    for (HeaderValueOption option : mutation.getSetHeadersList()) {
      leaving.put(option.getHeader().getKey(), option.getHeader().getRawValue().toStringUtf8());
    }
    return leaving;
  }

  private ProcessingResponse take(ResponseCase part) throws InterruptedException {
    ProcessingResponse response = answers.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
    if (response == null || response.getResponseCase() != part) {
      throw new AssertionError("expected " + part + ", got " + response);
    }
    return response;
  }

  /** Sends a body and returns it from the pieces that come back. */
  private byte[] streamed(ResponseCase part) throws InterruptedException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    StreamedBodyResponse piece;
    do {
      ProcessingResponse response = take(part);
      var common =
          part == ResponseCase.REQUEST_BODY
              ? response.getRequestBody().getResponse()
              : response.getResponseBody().getResponse();
      piece = common.getBodyMutation().getStreamedResponse();
      body.writeBytes(piece.getBody().toByteArray());
    } while (!piece.getEndOfStream());
    return body.toByteArray();
  }

  @Override
  public void onNext(ProcessingResponse response) {
    answers.add(response);
  }

  @Override
  public void onError(Throwable failure) {
    ended.completeExceptionally(failure);
  }

  @Override
  public void onCompleted() {
    ended.complete(true);
  }

  @Override
  public void close() {
    client.close();
    channel.shutdownNow();
  }
}
