package io.inferspan.samples.quickstart;

import com.sun.net.httpserver.HttpExchange;
import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.samples.quickstart.PrefixScorer.Match;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The gateway: picks a decode pod by what its cache holds, decides whether to prefill elsewhere,
 * and passes the request on to the proxy of the pod.
 */
final class SmallGateway implements AutoCloseable {

  private final Telemetry telemetry;
  private final PrefixScorer scorer;
  private final PdDecision decision;
  private final Map<String, String> proxyByPod;
  private final List<String> pods;
  private final SmallServer server;

  /**
   * Starts a gateway.
   *
   * @param telemetry traces it
   * @param prefillAuthority where the prefill pod listens
   * @param proxyByPod the decode pods, each with where its proxy listens
   */
  SmallGateway(Telemetry telemetry, String prefillAuthority, Map<String, String> proxyByPod)
      throws IOException {
    this.telemetry = telemetry;
    this.scorer = new PrefixScorer(telemetry);
    this.decision = new PdDecision(telemetry, prefillAuthority);
    this.proxyByPod = Map.copyOf(proxyByPod);
    this.pods = proxyByPod.keySet().stream().sorted().toList();
    this.server = new SmallServer(this::handle);
  }

  String authority() {
    return server.authority();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (OperationSpan request =
        telemetry
            .span(
                GatewaySpans.REQUEST,
                telemetry.extract(exchange.getRequestHeaders(), SmallServer.INCOMING))
            .set(CommonAttributes.HTTP_ROUTE, SmallServer.CHAT_PATH)
            .set(GenAiAttributes.OPERATION, "chat")
            .start()) {
      try {
        serve(exchange, request);
      } catch (DecodeException | ClassCastException e) {
        request.fail(e);
        SmallServer.refuse(exchange, 400, "The body is not a chat completion request.");
      } catch (IOException e) {
        request.fail(e);
        // Where the answer has begun this fails too, and the client sees it end early.
        SmallServer.refuse(exchange, 502, "The pod cannot be reached.");
      }
    }
  }

  private void serve(HttpExchange exchange, OperationSpan request) throws IOException {
    JsonObject body = new JsonObject(SmallServer.body(exchange));
    String model = body.getString("model", "");
    request
        .set(GenAiAttributes.REQUEST_MODEL, model)
        .set(GenAiAttributes.REQUEST_STREAM, body.getBoolean("stream", false));

    byte[] prompt = prompt(body);
    Match match = scorer.best(request, model, prompt, pods);
    boolean disaggregated = decision.isDisaggregated(request, prompt.length, match);
    HttpRequest.Builder call =
        SmallServer.chat(Objects.requireNonNull(proxyByPod.get(match.pod())), body.encode());
    decision.prepare(request, disaggregated, call);

    telemetry.inject(request, call, SmallServer.OUTGOING);
    HttpResponse<InputStream> answer = SmallServer.send(call, BodyHandlers.ofInputStream());
    request.set(CommonAttributes.HTTP_RESPONSE_STATUS_CODE, answer.statusCode());
    SmallServer.relay(answer, exchange);
    scorer.remember(match);
  }

  /** All that was said; it is hashed and measured, and never gets near a span. */
  private static byte[] prompt(JsonObject body) {
    StringBuilder prompt = new StringBuilder();
    for (Object message : body.getJsonArray("messages", new JsonArray())) {
      Object content = message instanceof JsonObject said ? said.getValue("content") : null;
      prompt.append(content == null ? "" : content);
    }
    return prompt.toString().getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    server.close();
  }
}
