package io.inferspan.ebpf.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Valid and invalid requests to the agent's port. */
class MetricsPortTest {

  private MetricsPort port;

  @BeforeEach
  void open() throws IOException {
    port = MetricsPort.open(0);
  }

  @AfterEach
  void close() {
    port.close();
  }

  @Test
  void metrics_areTextForPrometheus() throws Exception {
    HttpResponse<String> answer = ask("GET", "/metrics");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type"))
        .hasValue("text/plain; version=0.0.4; charset=utf-8");
  }

  @Test
  void health_isAnsweredWithoutABody() throws Exception {
    assertThat(ask("GET", "/health").statusCode()).isEqualTo(200);
    assertThat(ask("HEAD", "/metrics").statusCode()).isEqualTo(200);
  }

  @Test
  void anythingElse_isRefused() throws Exception {
    assertThat(ask("GET", "/").statusCode()).isEqualTo(404);
    assertThat(ask("GET", "/metrics/more").statusCode()).isEqualTo(404);
    assertThat(ask("POST", "/clock").statusCode()).isEqualTo(405);
    HttpResponse<String> refused = ask("POST", "/metrics");
    assertThat(refused.statusCode()).isEqualTo(405);
    assertThat(refused.headers().firstValue("allow")).hasValue("GET, HEAD");
  }

  @Test
  void clock_statesWhenTheRequestArrivedAndTheResponseWasSent() throws Exception {
    List<String> times =
        List.of(
            ask("GET", "/clock")
                .headers()
                .firstValue("inferspan-clock")
                .orElseThrow()
                .split(" ", -1));

    assertThat(times).hasSize(2).isSorted();
  }

  private HttpResponse<String> ask(String method, String path)
      throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + port.port() + path);
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(
          HttpRequest.newBuilder(uri).method(method, BodyPublishers.noBody()).build(),
          BodyHandlers.ofString());
    }
  }
}
