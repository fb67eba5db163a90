package io.inferspan.samples.ondesk;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Tests of a gateway with the trace desk: it must show the model, the tokens, the first token,
 * failures and disconnected clients.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class OnTheDeskContract {

  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final String BODY =
      "{\"model\":\"tiny\",\"stream\":true,\"stream_options\":{\"include_usage\":true},"
          + "\"messages\":[{\"role\":\"user\",\"content\":\"is there a train at noon\"}]}";

  private final FakeEngine engine = FakeEngine.start();
  private DeskProcess desk;
  private Gateway gateway;

  /** A gateway that runs. */
  public interface Gateway extends AutoCloseable {

    /** The port for clients. */
    int port();
  }

  /** Starts the gateway, which samples all requests, in front of an engine. */
  protected abstract Gateway start(String engine, DeskProcess.Collector collector) throws Exception;

  @BeforeAll
  void startAll() throws Exception {
    desk = DeskProcess.start();
    gateway = start(engine.authority(), desk.collector());
  }

  @AfterAll
  void closeAll() throws Exception {
    gateway.close();
    desk.close();
    engine.close();
  }

  @Test
  void answer_hasModelTokensAndFirstToken() throws Exception {
    engine.script(EngineScript.builder().tokens(5).prefill(Duration.ofMillis(80)).build());
    assertThat(ask("answered").statusCode()).isEqualTo(200);

    assertThat(awaitOnDesk("answered"))
        .contains("\"status\":\"ok\"", "\"model\":\"tiny\"", "\"tokens\":5", "\"httpStatus\":200")
        .containsPattern("\"ttftMs\":[0-9]{2}");
  }

  @Test
  void engineThatCloses_isAFailureWith502() throws Exception {
    engine.script(EngineScript.builder().cutBeforeHeaders().build());
    assertThat(ask("refused").statusCode()).isEqualTo(502);

    assertThat(awaitOnDesk("refused"))
        .contains("\"status\":\"error\"", "\"model\":\"tiny\"", "\"httpStatus\":502")
        .doesNotContain("\"ttftMs\"");
  }

  @Test
  void clientThatLeaves_isNamedAsTheCause() throws Exception {
    engine.script(EngineScript.builder().tokens(1000).betweenTokens(Duration.ofMillis(20)).build());
    try (HttpClient client = HttpClient.newHttpClient();
        InputStream response =
            client.send(request("left"), HttpResponse.BodyHandlers.ofInputStream()).body()) {
      assertThat(response.read()).isNotNegative();
    }

    assertThat(awaitOnDesk("left"))
        .contains("\"status\":\"error\"", "\"errorType\":\"client_disconnected\"", "\"ttftMs\":");
  }

  private HttpResponse<String> ask(String id) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(request(id), HttpResponse.BodyHandlers.ofString());
    }
  }

  private HttpRequest request(String id) {
    return HttpRequest.newBuilder(
            URI.create("http://127.0.0.1:" + gateway.port() + "/v1/chat/completions"))
        .version(HttpClient.Version.HTTP_1_1)
        .header("content-type", "application/json")
        .header("x-request-id", id)
        .POST(HttpRequest.BodyPublishers.ofString(BODY))
        .build();
  }

  /** Waits until the request's root span has arrived. */
  private String awaitOnDesk(String id) throws IOException, InterruptedException {
    long until = System.nanoTime() + LIMIT.toNanos();
    String shown = desk.requests(id);
    while (!shown.contains("\"requestId\":\"" + id + "\"")
        || shown.contains("\"status\":\"open\"")) {
      if (System.nanoTime() > until) {
        throw new AssertionError("the desk does not show the request: " + shown);
      }
      Thread.sleep(20);
      shown = desk.requests(id);
    }
    return shown;
  }
}
