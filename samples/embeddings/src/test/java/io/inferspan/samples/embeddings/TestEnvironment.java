package io.inferspan.samples.embeddings;

import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** The surroundings of a gateway: a client, a traced engine, and a collector. */
final class TestEnvironment implements AutoCloseable {

  static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  static final String CALLER = "00-" + TRACE + "-b7ad6b7169203331-01";
  static final String PATH = "/v1/chat/completions";
  static final String BODY =
      "{\"model\":\"tiny\",\"stream\":true,\"stream_options\":{\"include_usage\":true},\"max_tokens\":5,\"messages\":[{\"role\":\"user\",\"content\":\"is"
          + " there a train at noon\"}]}";

  private static final String LONG = BODY.replace("\"max_tokens\":5,", "\"max_tokens\":1000,");

  private final OtlpReceiver collector = OtlpReceiver.start();
  private final OpenTelemetrySdk engineSdk =
      OpenTelemetrySdk.builder()
          .setTracerProvider(
              SdkTracerProvider.builder()
                  .addSpanProcessor(
                      SimpleSpanProcessor.create(
                          OtlpGrpcSpanExporter.builder().setEndpoint(collector.endpoint()).build()))
                  .build())
          .build();
  private final FakeEngine engine =
      FakeEngine.builder().script(EngineScript.normal()).openTelemetry(engineSdk).start();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  OtlpReceiver collector() {
    return collector;
  }

  FakeEngine engine() {
    return engine;
  }

  /** Sends a request to the gateway on this port, as part of {@link #TRACE}. */
  HttpResponse<String> ask(int port) throws IOException, InterruptedException {
    return client.send(request(port, BODY), HttpResponse.BodyHandlers.ofString());
  }

  private static HttpRequest request(int port, String body) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + PATH))
        .header("content-type", "application/json")
        .header("traceparent", CALLER)
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  /** Requests many tokens, reads the beginning of the response and closes the connection. */
  void askAndDisconnect(int port) throws IOException, InterruptedException {
    try (HttpClient leaving = HttpClient.newHttpClient();
        InputStream response =
            leaving.send(request(port, LONG), HttpResponse.BodyHandlers.ofInputStream()).body()) {
      if (response.read() < 0) {
        throw new IOException("the response is empty");
      }
    }
  }

  /** Sends a request without a body, in a new trace. */
  HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
    return client.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .header("authorization", "Bearer k")
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  @Override
  public void close() {
    client.close();
    engine.close();
    engineSdk.close();
    collector.close();
  }
}
