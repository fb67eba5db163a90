package io.inferspan.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.PreRequest;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.epp.plugins.disagg.DisaggHeaders;
import io.inferspan.epp.plugins.disagg.SingleProfileHandler;
import io.inferspan.epp.plugins.pick.MaxScorePicker;
import io.inferspan.epp.plugins.score.SessionAffinityScorer;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.epp.scheduling.SchedulerProfile;
import io.inferspan.extproc.EnvoyStandIn.Setup;
import io.inferspan.extproc.proto.Envoy.BodyMode;
import io.inferspan.gateway.Wire;
import io.inferspan.gateway.Wire.Message;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.engine.EngineRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ExtProcServiceTest extends ExtProcFixture {

  @ParameterizedTest
  @CsvSource({
    "FULL_DUPLEX_STREAMED, FULL_DUPLEX_STREAMED, false",
    "FULL_DUPLEX_STREAMED, STREAMED, false",
    "BUFFERED, STREAMED, false",
    "BUFFERED_PARTIAL, STREAMED, false",
    "BUFFERED, NONE, false",
    "STREAMED, STREAMED, false",
    "NONE, STREAMED, false",
    "NONE, NONE, false",
    "STREAMED, STREAMED, true",
    "NONE, NONE, true"
  })
  void everyMode_servesTheRequestAndSeesItsEnd(
      BodyMode request, BodyMode response, boolean overrides) throws Exception {
    ExtProcService.Builder service = overrides ? service().overrideModes() : service();
    try (ExtProcRig rig = new ExtProcRig(service.build(), Setup.of(request, response))) {
      Message answer = ask(rig, STREAM);
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.text()).endsWith("data: [DONE]\n\n");
      assertThat(rig.envoy().failures()).isEmpty();
      assertThat(rig.service().heldBytes()).isZero();
    }
    EngineRequest asked = engine.requests().get(0);
    assertThat(asked.bodyText()).isEqualTo(STREAM);
    assertThat(asked.headers("x-gateway-destination-endpoint"))
        .containsExactly("127.0.0.1:" + engine.port());
    SpanRecord span = span();
    assertThat(asked.headers("traceparent"))
        .singleElement()
        .asString()
        .startsWith("00-" + span.traceId() + "-" + span.spanId() + "-0");
    assertThat(span.isError()).isFalse();
    boolean seesAnswer = response != BodyMode.NONE || overrides;
    assertThat(span.attribute("inferspan.response.tokens")).isEqualTo(seesAnswer ? 5L : null);
    boolean seesRequest = overrides || request != BodyMode.NONE;
    assertThat(span.attribute("gen_ai.request.model")).isEqualTo(seesRequest ? "tiny" : null);
  }

  @Test
  void modesThatEnvoyDoesNotReport_areThoseOfTheSetting() throws Exception {
    for (boolean duplex : new boolean[] {true, false}) {
      Setup setup = (duplex ? DUPLEX : BUFFERED).silentAboutModes();
      ExtProcService service =
          duplex ? service().build() : service().bufferedUnlessReported().build();
      try (ExtProcRig rig = new ExtProcRig(service, setup)) {
        assertThat(ask(rig, WHOLE).status()).isEqualTo(200);
      }
    }
  }

  @Test
  void requestWithoutBody_isRoutedByItsHeaders() throws Exception {
    for (Setup setup : List.of(DUPLEX, BUFFERED)) {
      try (ExtProcRig rig = new ExtProcRig(service().build(), setup);
          Wire wire = new Wire(rig.port())) {
        wire.send("GET /v1/models HTTP/1.1\r\nHost: gateway\r\n\r\n");
        assertThat(wire.read().text()).contains("\"object\"");
      }
    }
  }

  @Test
  void largeBody_goesBackInPiecesThatEnvoyTakes() throws Exception {
    String body =
        "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\""
            + "word ".repeat(400_000)
            + "\"}]}";
    try (ExtProcRig rig = new ExtProcRig(service().build(), DUPLEX)) {
      assertThat(ask(rig, body).status()).isEqualTo(200);
      assertThat(rig.service().heldBytes()).isZero();
      List<Integer> pieces =
          rig.envoy().received().stream()
              .filter(ProcessingResponse::hasRequestBody)
              .map(
                  it ->
                      it.getRequestBody()
                          .getResponse()
                          .getBodyMutation()
                          .getStreamedResponse()
                          .getBody()
                          .size())
              .toList();
      assertThat(pieces).hasSizeGreaterThan(30).allMatch(size -> size <= 62_000);
      assertThat(pieces.stream().mapToInt(Integer::intValue).sum()).isEqualTo(body.length());
    }
    assertThat(engine.requests().get(0).bodyText()).isEqualTo(body);
    assertThat(engine.requests().get(0).headers("content-length"))
        .containsExactly(Integer.toString(body.length()));
  }

  @Test
  void clientsOwnRoutingHeaders_areRemoved() throws Exception {
    for (Setup setup : List.of(DUPLEX, BUFFERED, Setup.of(BodyMode.NONE, BodyMode.NONE))) {
      engine.clearRequests();
      try (ExtProcRig rig = new ExtProcRig(service().build(), setup)) {
        ask(
            rig,
            WHOLE,
            "X-Gateway-Destination-Endpoint: 10.0.0.1:1",
            "X-Prefiller-Host-Port: 10.0.0.1:1",
            "x-encoder-hosts-ports: 10.0.0.1:1",
            "x-kv-cache-source-host-port: 10.0.0.1:1",
            "x-data-parallel-host-port: 10.0.0.1:1");
      }
      EngineRequest asked = engine.requests().get(0);
      assertThat(asked.headers("x-gateway-destination-endpoint"))
          .containsExactly("127.0.0.1:" + engine.port());
      DisaggHeaders.ROUTING.stream()
          .skip(1)
          .forEach(name -> assertThat(asked.headers(name)).as(name).isEmpty());
    }
  }

  @Test
  void headersOfThePlugins_leaveButThoseOfTheConnection() throws Exception {
    PreRequest preRequest =
        new PreRequest() {
          @Override
          public String type() {
            return "test";
          }

          @Override
          public void prepare(SchedulingResult result, Headers headers) {
            headers.set("X-Prefiller-Host-Port", "10.1.1.1:8000");
            headers.set("Transfer-Encoding", "gzip");
            headers.set("Host", "elsewhere");
            headers.set(":path", "/elsewhere");
            headers.remove("Connection");
            headers.remove("x-drop");
          }
        };
    Scheduler scheduler =
        Scheduler.builder(new SingleProfileHandler())
            .profile(SchedulerProfile.named("default").picker(new MaxScorePicker()))
            .preRequest(preRequest)
            .build();
    ExtProcService service = serviceBy(scheduler);
    try (ExtProcRig rig = new ExtProcRig(service, DUPLEX)) {
      assertThat(ask(rig, WHOLE, "X-Drop: me").status()).isEqualTo(200);
      ProcessingResponse first = rig.envoy().received().get(0);
      assertThat(first.getRequestHeaders().getResponse().getHeaderMutation().getSetHeadersList())
          .extracting(option -> option.getHeader().getKey())
          .containsExactlyInAnyOrder(
              "x-prefiller-host-port",
              "x-gateway-destination-endpoint",
              "traceparent",
              "x-request-id",
              "content-length");
      assertThat(first.getRequestHeaders().getResponse().getClearRouteCache()).isTrue();
    }
    assertThat(engine.requests().get(0).headers("x-prefiller-host-port"))
        .containsExactly("10.1.1.1:8000");
    assertThat(engine.requests().get(0).headers("x-drop")).isEmpty();
  }

  @Test
  void subsetHint_leavesOnlyItsEndpoints() throws Exception {
    Endpoint there = endpoint();
    List<Endpoint> all = List.of(Endpoint.of("ns", "other", "127.0.0.9", 1), there);
    ExtProcService service = serviceOver(all).build();
    for (String hint : List.of("127.0.0.1", there.authority())) {
      try (ExtProcRig rig = new ExtProcRig(service, DUPLEX.leaving(List.of("10.0.0.1:1", hint)))) {
        assertThat(ask(rig, WHOLE).status()).isEqualTo(200);
      }
    }
    for (List<String> none : List.of(List.<String>of(), List.of("10.0.0.1:1"))) {
      try (ExtProcRig rig = new ExtProcRig(service, DUPLEX.leaving(none))) {
        assertThat(ask(rig, WHOLE).status()).isEqualTo(503);
      }
    }
  }

  @Test
  void sessionToken_isOnTheAnswer() throws Exception {
    try (ExtProcRig rig = new ExtProcRig(service().sessionTokens().build(), DUPLEX)) {
      Endpoint endpoint = Endpoint.of("ns", "engine", "127.0.0.1", 1);
      assertThat(ask(rig, WHOLE).all("x-session-token"))
          .containsExactly(SessionAffinityScorer.token(endpoint));
    }
  }

  @Test
  void choiceThatTakesTime_holdsTheExchange() throws Exception {
    for (Setup setup : List.of(DUPLEX, Setup.of(BodyMode.STREAMED, BodyMode.STREAMED))) {
      // Of each mode's own: once open, a gate holds nothing any more.
      CompletableFuture<Void> decide = new CompletableFuture<>();
      ExtProcService service = serviceBy(deciding(decide));
      CompletableFuture<Message> answer = new CompletableFuture<>();
      try (ExtProcRig rig = new ExtProcRig(service, setup);
          Wire wire = new Wire(rig.port())) {
        wire.send(Wire.chat(WHOLE));
        Thread reader = new Thread(() -> answer.complete(readQuietly(wire)));
        reader.start();
        decide.completeOnTimeout(null, 50, TimeUnit.MILLISECONDS);
        assertThat(answer.get(10, TimeUnit.SECONDS).status()).isEqualTo(200);
      }
    }
  }

  /** A scheduler that waits for this before it picks. */
  private static Scheduler deciding(CompletableFuture<Void> when) {
    return Scheduler.builder(new SingleProfileHandler())
        .profile(
            SchedulerProfile.named("default")
                .scorer(new SlowScorer(when), 1)
                .picker(new MaxScorePicker()))
        .timeout(Duration.ofSeconds(30))
        .build();
  }

  private static Message readQuietly(Wire wire) {
    try {
      return wire.read();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void clientThatLeavesWhileTheChoiceIsMade_endsTheSpan() throws Exception {
    CompletableFuture<Void> never = new CompletableFuture<>();
    AtomicInteger asked = new AtomicInteger();
    ExtProcService service =
        ExtProcService.builder(
                gateway(),
                deciding(never),
                () -> {
                  asked.incrementAndGet();
                  return List.of(endpoint());
                })
            .build();
    try (ExtProcRig rig = new ExtProcRig(service, DUPLEX)) {
      try (Wire wire = new Wire(rig.port())) {
        wire.send(Wire.chat(WHOLE));
        long until = System.nanoTime() + SOON.toNanos();
        while (asked.get() == 0 && System.nanoTime() < until) {
          Thread.onSpinWait();
        }
      }
      assertThat(span().attribute("error.type")).isEqualTo("client_disconnected");
      never.complete(null);
      assertThat(rig.service().heldBytes()).isZero();
    }
    assertThat(engine.requests()).isEmpty();
  }

  @Test
  void observingEnvoy_getsNoResponse() throws Exception {
    try (ExtProcRig rig = new ExtProcRig(service().build(), DUPLEX)) {
      List<ProcessingRequest> exchange = Exchanges.observed();
      Exchanges.Outcome outcome = Exchanges.run(rig.envoy().processor(), exchange);
      assertThat(outcome.responses()).isEmpty();
      assertThat(outcome.failure()).isNull();
    }
    SpanRecord span = span();
    assertThat(span.attribute("http.response.status_code")).isEqualTo(200L);
    assertThat(span.isError()).isFalse();
  }

  @Test
  void trailers_passAndEndBothSides() throws Exception {
    try (ExtProcRig rig = new ExtProcRig(service().build(), DUPLEX)) {
      Exchanges.Outcome outcome =
          Exchanges.run(rig.envoy().processor(), Exchanges.withTrailers(WHOLE));
      assertThat(outcome.failure()).isNull();
      assertThat(outcome.responses())
          .extracting(ProcessingResponse::getResponseCase)
          .containsExactly(
              ProcessingResponse.ResponseCase.REQUEST_HEADERS,
              ProcessingResponse.ResponseCase.REQUEST_BODY,
              ProcessingResponse.ResponseCase.REQUEST_TRAILERS,
              ProcessingResponse.ResponseCase.RESPONSE_HEADERS,
              ProcessingResponse.ResponseCase.RESPONSE_BODY,
              ProcessingResponse.ResponseCase.RESPONSE_TRAILERS);
    }
    assertThat(span().isError()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"BUFFERED, false", "BUFFERED_PARTIAL, false", "FULL_DUPLEX_STREAMED, true"})
  void webSocket_needsAModeInWhichEnvoyDoesNotHoldItsHeaders(BodyMode mode, boolean kept)
      throws Exception {
    Setup setup = Setup.of(mode, BodyMode.STREAMED);
    try (ExtProcRig rig = new ExtProcRig(service().overrideModes().build(), setup)) {
      Exchanges.Outcome outcome =
          Exchanges.run(rig.envoy().processor(), Exchanges.handshake(mode.getNumber()));
      assertThat(outcome.failure()).isNull();
      ProcessingResponse routed = outcome.responses().get(0);
      assertThat(routed.getRequestHeaders().getResponse().getClearRouteCache()).isTrue();
      assertThat(routed.hasModeOverride()).isNotEqualTo(kept);
      assertThat(routed.getModeOverride().getRequestBodyMode()).isEqualTo(BodySendMode.NONE);
    }
    assertThat(span().attribute("http.response.status_code")).isEqualTo(101L);
  }

  @Test
  void webSocket_isRoutedByItsHeaders_andEndsItsSpanWithTheHandshake() throws Exception {
    try (ExtProcRig rig = new ExtProcRig(service().build(), DUPLEX)) {
      Exchanges.Outcome outcome = Exchanges.run(rig.envoy().processor(), Exchanges.webSocket());
      assertThat(outcome.failure()).isNull();
      assertThat(outcome.responses())
          .extracting(ProcessingResponse::getResponseCase)
          .containsExactly(
              ProcessingResponse.ResponseCase.REQUEST_HEADERS,
              ProcessingResponse.ResponseCase.RESPONSE_HEADERS,
              ProcessingResponse.ResponseCase.REQUEST_BODY,
              ProcessingResponse.ResponseCase.RESPONSE_BODY);
    }
    assertThat(span().isError()).isFalse();
    assertThat(span().attribute("http.response.status_code")).isEqualTo(101L);
  }
}
