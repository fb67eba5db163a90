package io.inferspan.pd.rig;

import static com.github.tomakehurst.wiremock.client.WireMock.aResponse;
import static com.github.tomakehurst.wiremock.client.WireMock.any;
import static com.github.tomakehurst.wiremock.client.WireMock.anyUrl;
import static com.github.tomakehurst.wiremock.core.WireMockConfiguration.wireMockConfig;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.client.ResponseDefinitionBuilder;
import com.github.tomakehurst.wiremock.core.WireMockConfiguration;
import com.github.tomakehurst.wiremock.verification.LoggedRequest;
import java.util.List;

/** An engine with scripted responses, which records its requests, oldest first. */
public final class ScriptedEngine implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final WireMockServer server;
  private final boolean secure;

  private ScriptedEngine(WireMockConfiguration where, boolean secure) {
    this.secure = secure;
    server = new WireMockServer(where.bindAddress("127.0.0.1"));
    server.start();
  }

  /** Starts an engine that answers every request with 200 and this JSON. */
  public static ScriptedEngine answering(String json) {
    ScriptedEngine engine = new ScriptedEngine(wireMockConfig().dynamicPort(), false);
    engine.answer(json(200, json));
    return engine;
  }

  /** Starts such an engine with only TLS, and with an untrusted certificate. */
  public static ScriptedEngine securely(String json) {
    WireMockConfiguration where = wireMockConfig().httpDisabled(true).dynamicHttpsPort();
    return new ScriptedEngine(where, true).answer(json(200, json));
  }

  /** Starts an engine on this port that answers every request with an empty object. */
  public static ScriptedEngine on(int port) {
    return new ScriptedEngine(wireMockConfig().port(port), false).answer(json(200, "{}"));
  }

  /** Returns a response with a JSON body. */
  public static ResponseDefinitionBuilder json(int status, String body) {
    return aResponse()
        .withStatus(status)
        .withHeader("content-type", "application/json")
        .withBody(body);
  }

  /** Answers all further requests with this. */
  public ScriptedEngine answer(ResponseDefinitionBuilder answer) {
    server.resetMappings();
    server.stubFor(any(anyUrl()).willReturn(answer));
    return this;
  }

  /** Returns the underlying engine, for scripts with several responses. */
  public WireMockServer wireMock() {
    return server;
  }

  public int port() {
    return secure ? server.httpsPort() : server.port();
  }

  public String authority() {
    return "127.0.0.1:" + port();
  }

  /** Returns the requests so far. */
  public List<LoggedRequest> requests() {
    return server.getAllServeEvents().reversed().stream()
        .map(event -> LoggedRequest.createFrom(event.getRequest()))
        .toList();
  }

  /** Returns the body of the only request. */
  public JsonNode onlyBody() {
    List<LoggedRequest> all = requests();
    if (all.size() != 1) {
      throw new AssertionError("received " + all.size() + " requests");
    }
    return parse(all.getFirst().getBodyAsString());
  }

  public static JsonNode parse(String json) {
    try {
      return JSON.readTree(json);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("not JSON", e);
    }
  }

  @Override
  public void close() {
    server.stop();
  }
}
