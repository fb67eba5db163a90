package io.inferspan.gateway.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.response.ResponseTap;
import io.micrometer.core.instrument.Clock;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The Prometheus scrape after requests. */
final class GatewayMetersTest {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0";

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(
          PrometheusConfig.DEFAULT,
          new PrometheusRegistry(),
          Clock.SYSTEM,
          new CurrentSpanExemplars());
  private final GatewayMeters meters = new GatewayMeters(registry, 3, 2);

  private static Context with(TraceFlags flags) {
    return Context.root()
        .with(
            Span.wrap(
                SpanContext.create(TRACE, "b7ad6b7169203331", flags, TraceState.getDefault())));
  }

  private static Served served(@Nullable String model, Outcome outcome, long millis) {
    return new Served("chat", model, null, outcome, 0, TimeUnit.MILLISECONDS.toNanos(millis));
  }

  private void count(Served request) {
    meters.record(request, null, Context.root());
  }

  private List<String> scraped(String prefix) {
    return registry.scrape(OPEN_METRICS).lines().filter(line -> line.startsWith(prefix)).toList();
  }

  private static ResponseTap threeTokens() {
    ResponseTap tap = ResponseTap.forContentType("text/event-stream");
    long[] millis = {90, 140, 190};
    for (long at : millis) {
      see(tap, "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}", at);
    }
    see(tap, "{\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":3}}", 190);
    return tap;
  }

  private static void see(ResponseTap tap, String event, long millis) {
    byte[] bytes = ("data: " + event + "\n\n").getBytes(StandardCharsets.UTF_8);
    tap.see(ByteBuffer.wrap(bytes), TimeUnit.MILLISECONDS.toNanos(millis));
  }

  @Test
  void streams_areCountedInTheConventionsBuckets() {
    meters.record(served("m", Outcome.SUCCESS, 200), threeTokens(), Context.root());
    String labels =
        "{gen_ai_operation_name=\"chat\",gen_ai_request_model=\"m\",outcome=\"success\"";
    assertThat(registry.scrape(OPEN_METRICS).lines())
        .contains(
            "gen_ai_server_time_to_first_token_seconds_bucket" + labels + ",le=\"0.08\"} 0",
            "gen_ai_server_time_to_first_token_seconds_bucket" + labels + ",le=\"0.1\"} 1",
            "gen_ai_server_time_per_output_token_seconds_bucket" + labels + ",le=\"0.025\"} 0",
            "gen_ai_server_time_per_output_token_seconds_bucket" + labels + ",le=\"0.05\"} 1",
            "gen_ai_server_request_duration_seconds_bucket" + labels + ",le=\"0.16\"} 0",
            "gen_ai_server_request_duration_seconds_bucket" + labels + ",le=\"0.32\"} 1");
    assertThat(scraped("gen_ai_client_token_usage_sum"))
        .anyMatch(line -> line.contains("gen_ai_token_type=\"input\"") && line.endsWith(" 100.0"))
        .anyMatch(line -> line.contains("gen_ai_token_type=\"output\"") && line.endsWith(" 3.0"));
    assertThat(scraped("gen_ai_server_time_to_first_token_seconds_bucket")).hasSize(17);
    assertThat(scraped("gen_ai_server_time_per_output_token_seconds_bucket")).hasSize(14);
    assertThat(scraped("gen_ai_server_request_duration_seconds_bucket")).hasSize(15);
    assertThat(scraped("gen_ai_client_token_usage_bucket")).hasSize(30);
  }

  @Test
  void sampledRequests_haveTheirTraceAsExemplar() {
    meters.record(served("m", Outcome.SUCCESS, 200), threeTokens(), with(TraceFlags.getSampled()));
    for (String meter :
        List.of(
            "gen_ai_server_time_to_first_token_seconds_bucket",
            "gen_ai_server_time_per_output_token_seconds_bucket",
            "gen_ai_server_request_duration_seconds_bucket")) {
      assertThat(scraped(meter)).as(meter).anyMatch(line -> line.contains(TRACE));
    }
  }

  @Test
  void unsampledRequests_haveNoExemplar() {
    meters.record(served("m", Outcome.SUCCESS, 200), threeTokens(), with(TraceFlags.getDefault()));
    assertThat(registry.scrape(OPEN_METRICS)).doesNotContain(TRACE);
  }

  @Test
  void modelsBeyondTheMost_areOther() {
    for (int i = 0; i < 10; i++) {
      count(served("m" + i, Outcome.SUCCESS, 1));
    }
    count(served("m1", Outcome.ERROR, 1));
    assertThat(scraped("gen_ai_server_request_duration_seconds_count"))
        .hasSize(5)
        .anyMatch(line -> line.contains("\"other\"") && line.endsWith(" 7"))
        .anyMatch(line -> line.contains("\"m1\"") && line.contains("\"error\""));
  }

  @Test
  void namesThatNoEngineKnows_takeNoPlace() {
    for (int i = 0; i < 100; i++) {
      count(served("guess" + i, Outcome.REJECTED, 1));
    }
    count(served(null, Outcome.SUCCESS, 1));
    count(served("real", Outcome.SUCCESS, 1));
    assertThat(registry.scrape(OPEN_METRICS)).doesNotContain("guess").contains("\"real\"");
  }

  @Test
  void unknownOperations_areOther() {
    count(new Served("made up", "m", null, Outcome.SUCCESS, 0, 1));
    assertThat(scraped("gen_ai_server_request_duration_seconds_count"))
        .singleElement()
        .asString()
        .contains("gen_ai_operation_name=\"other\"");
  }

  private static ResponseTap usage() {
    ResponseTap tap = ResponseTap.forContentType("application/json");
    String json =
        """
        {"usage":{"prompt_tokens":100,"completion_tokens":30,
        "prompt_tokens_details":{"cached_tokens":64},
        "completion_tokens_details":{"reasoning_tokens":20}}}
        """;
    tap.see(ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8)), 1);
    return tap;
  }

  private void countFor(@Nullable String tenant, Outcome outcome) {
    meters.record(new Served("chat", "m", tenant, outcome, 0, 1), usage(), Context.root());
  }

  @Test
  void tenants_haveTheirRequestsAndTokensWithCachedAndReasoning() {
    countFor("acme", Outcome.SUCCESS);
    countFor("acme", Outcome.SUCCESS);
    countFor(null, Outcome.SUCCESS);
    assertThat(scraped("inferspan_tenant_requests_total"))
        .containsExactlyInAnyOrder(
            "inferspan_tenant_requests_total{gen_ai_request_model=\"m\",outcome=\"success\","
                + "tenant=\"acme\"} 2.0",
            "inferspan_tenant_requests_total{gen_ai_request_model=\"m\",outcome=\"success\","
                + "tenant=\"none\"} 1.0");
    assertThat(scraped("inferspan_tenant_tokens_total"))
        .filteredOn(line -> line.contains("\"acme\""))
        .hasSize(4)
        .anyMatch(line -> line.contains("\"input\"") && line.endsWith(" 200.0"))
        .anyMatch(line -> line.contains("\"cached\"") && line.endsWith(" 128.0"))
        .anyMatch(line -> line.contains("\"output\"") && line.endsWith(" 60.0"))
        .anyMatch(line -> line.contains("\"reasoning\"") && line.endsWith(" 40.0"));
  }

  @Test
  void tenantsBeyondTheMostOrWithoutSuccess_areOther() {
    countFor("guess", Outcome.REJECTED);
    for (String tenant : List.of("a", "b", "c", "d")) {
      countFor(tenant, Outcome.SUCCESS);
    }
    assertThat(registry.scrape(OPEN_METRICS)).doesNotContain("\"guess\"", "\"c\"", "\"d\"");
    assertThat(scraped("inferspan_tenant_requests_total"))
        .anyMatch(line -> line.contains("tenant=\"other\"") && line.endsWith(" 2.0"));
  }
}
