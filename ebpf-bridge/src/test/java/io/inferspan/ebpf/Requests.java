package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** Requests to a server of the test kit, each with a trace of its own. */
final class Requests {

  private Requests() {}

  /** One after the other, on one connection. */
  static void send(PythonServer server, int count) throws Exception {
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      URI uri = URI.create("http://127.0.0.1:" + server.port() + "/infer");
      for (int number = 1; number <= count; number++) {
        HttpRequest request =
            HttpRequest.newBuilder(uri)
                .header("traceparent", "00-%032x-%016x-01".formatted(number, number))
                .build();
        assertThat(client.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
      }
    }
  }
}
