package io.inferspan.samples.quickstart;

import com.sun.net.httpserver.HttpExchange;
import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.PdSpans;
import io.inferspan.semconv.PdAttributes;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.jspecify.annotations.Nullable;

/**
 * The prefill/decode proxy beside a decode pod: has another pod compute the prompt's KV blocks
 * first where the gateway says so, and then its own pod decode, in the manner of vLLM's NIXL
 * connector.
 *
 * <p>It measures what no engine can see: the time of a request over both stages.
 */
final class SmallPdProxy implements AutoCloseable {

  private static final String CONNECTOR = "nixlv2";
  private static final String KV_PARAMS = "kv_transfer_params";

  private final Telemetry telemetry;
  private final String prefiller;
  private final String decoder;
  private final SmallServer server;

  /**
   * Starts a proxy.
   *
   * @param telemetry traces it
   * @param prefiller the only prefill pod that a request may name
   * @param decoder where its own pod listens
   */
  SmallPdProxy(Telemetry telemetry, String prefiller, String decoder) throws IOException {
    this.telemetry = telemetry;
    this.prefiller = prefiller;
    this.decoder = decoder;
    this.server = new SmallServer(this::handle);
  }

  String authority() {
    return server.authority();
  }

  private void handle(HttpExchange exchange) throws IOException {
    String target = exchange.getRequestHeaders().getFirst(PdDecision.PREFILL_HEADER);
    try (OperationSpan request =
        telemetry
            .span(
                PdSpans.REQUEST,
                telemetry.extract(exchange.getRequestHeaders(), SmallServer.INCOMING))
            .set(PdAttributes.CONNECTOR, CONNECTOR)
            .set(PdAttributes.REQUEST_PATH, SmallServer.CHAT_PATH)
            .set(PdAttributes.DISAGGREGATION_USED, target != null)
            .set(PdAttributes.PREFILL_TARGET, target)
            .start()) {
      try {
        serve(exchange, request, target);
      } catch (DecodeException e) {
        request.fail(e);
        SmallServer.refuse(exchange, 400, "A body is not JSON.");
      } catch (IOException e) {
        request.fail(e);
        SmallServer.refuse(exchange, 502, "An engine cannot be reached.");
      }
    }
  }

  private void serve(HttpExchange exchange, OperationSpan request, @Nullable String target)
      throws IOException {
    long arrivalNanos = System.nanoTime();
    JsonObject body = new JsonObject(SmallServer.body(exchange));
    if (target == null) {
      request.set(PdAttributes.REASON, "no_prefill_header");
      SmallServer.relay(call(request, decoder, body, BodyHandlers.ofInputStream()), exchange);
    } else if (!target.equals(prefiller)) {
      // A header must not make the proxy call any address a client can think of.
      request.set(PdAttributes.ERROR, "ssrf_protection_denied");
      request.fail("403", "SSRF protection: prefill target not in allowlist");
      SmallServer.refuse(exchange, 403, "The prefill pod is not on the list.");
    } else {
      inTwoStages(exchange, request, body, arrivalNanos);
    }
  }

  private void inTwoStages(
      HttpExchange exchange, OperationSpan request, JsonObject body, long arrivalNanos)
      throws IOException {
    long prefillStart = System.nanoTime();
    HttpResponse<String> prefilled = prefill(request, body);
    long prefillEnd = System.nanoTime();
    if (prefilled.statusCode() != 200) {
      SmallServer.relayWhole(prefilled, exchange);
      return;
    }
    // What one engine says about its blocks goes to the other word for word.
    Object blocks = new JsonObject(prefilled.body()).getValue(KV_PARAMS);
    body.put(KV_PARAMS, blocks);
    long decodeStart = System.nanoTime();
    decode(exchange, request, body);
    long end = System.nanoTime();
    request
        .setMillis(PdAttributes.TRUE_TTFT_MS, decodeStart - arrivalNanos)
        .setMillis(PdAttributes.TOTAL_DURATION_MS, end - arrivalNanos)
        .setMillis(PdAttributes.PREFILL_DURATION_MS, prefillEnd - prefillStart)
        .setMillis(PdAttributes.DECODE_DURATION_MS, end - decodeStart)
        .setMillis(PdAttributes.COORDINATOR_OVERHEAD_MS, decodeStart - prefillEnd);
  }

  private HttpResponse<String> prefill(OperationSpan request, JsonObject body) throws IOException {
    try (OperationSpan stage =
        telemetry
            .span(PdSpans.PREFILL, request)
            .set(PdAttributes.CONNECTOR, CONNECTOR)
            .set(PdAttributes.PREFILL_TARGET, prefiller)
            .start()) {
      HttpResponse<String> answer =
          call(stage, prefiller, forPrefill(body), BodyHandlers.ofString());
      stage.set(PdAttributes.PREFILL_STATUS_CODE, answer.statusCode());
      if (answer.statusCode() != 200) {
        stage.fail(String.valueOf(answer.statusCode()), "prefill request failed");
      }
      return answer;
    }
  }

  /** The same request for one token, whose KV blocks the engine keeps for another to fetch. */
  private static JsonObject forPrefill(JsonObject body) {
    JsonObject prefill = body.copy();
    prefill.remove("stream_options");
    prefill.remove("min_tokens");
    return prefill
        .put("stream", false)
        .put("max_tokens", 1)
        .put("max_completion_tokens", 1)
        .put(
            KV_PARAMS,
            new JsonObject()
                .put("do_remote_decode", true)
                .put("do_remote_prefill", false)
                .putNull("remote_engine_id")
                .putNull("remote_block_ids")
                .putNull("remote_host")
                .putNull("remote_port"));
  }

  private void decode(HttpExchange exchange, OperationSpan request, JsonObject body)
      throws IOException {
    try (OperationSpan stage =
        telemetry
            .span(PdSpans.DECODE, request)
            .set(PdAttributes.CONNECTOR, CONNECTOR)
            .set(PdAttributes.DECODE_TARGET, decoder)
            .set(PdAttributes.DECODE_STREAMING, body.getBoolean("stream", false))
            .start()) {
      SmallServer.relay(call(stage, decoder, body, BodyHandlers.ofInputStream()), exchange);
    }
  }

  /** A call on behalf of {@code span}: the engine's own span will hang under it. */
  private <T> HttpResponse<T> call(
      OperationSpan span, String engine, JsonObject body, HttpResponse.BodyHandler<T> as)
      throws IOException {
    HttpRequest.Builder call = SmallServer.chat(engine, body.encode());
    telemetry.inject(span, call, SmallServer.OUTGOING);
    return SmallServer.send(call, as);
  }

  @Override
  public void close() {
    server.close();
  }
}
