package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** Requests to a server of the test kit, each with its own trace. */
final class Requests {

  private Requests() {}

  /** Sends sampled requests one after the other, on one connection. */
  static void send(PythonServer server, int count) throws Exception {
    send(server, 1, count, "01");
  }

  /** Sends unsampled requests in the same way. */
  static void sendUnsampled(PythonServer server, int count) throws Exception {
    send(server, 1, count, "00");
  }

  /** Sends one sampled request with this number as its ids. */
  static void sendOne(PythonServer server, int number) throws Exception {
    send(server, number, number, "01");
  }

  private static void send(PythonServer server, int first, int last, String flags)
      throws Exception {
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      URI uri = URI.create("http://127.0.0.1:" + server.port() + "/infer");
      for (int number = first; number <= last; number++) {
        HttpRequest request =
            HttpRequest.newBuilder(uri)
                .header("traceparent", "00-%032x-%016x-%s".formatted(number, number, flags))
                .build();
        assertThat(client.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
      }
    }
  }
}
