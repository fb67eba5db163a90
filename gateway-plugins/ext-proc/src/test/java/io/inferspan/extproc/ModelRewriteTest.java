package io.inferspan.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Filter;
import io.inferspan.epp.plugins.disagg.SingleProfileHandler;
import io.inferspan.epp.plugins.pick.MaxScorePicker;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.epp.scheduling.SchedulerProfile;
import io.inferspan.extproc.EnvoyStandIn.Setup;
import io.inferspan.extproc.proto.Envoy.BodyMode;
import io.inferspan.testing.engine.EngineRequest;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** Requests whose model somebody wants replaced, by a header, before they reach an engine. */
final class ModelRewriteTest extends ExtProcFixture {

  private static final String HEADER = "x-llm-d-model-name-rewrite";
  private static final Setup PARTIAL = Setup.of(BodyMode.BUFFERED_PARTIAL, BodyMode.STREAMED);

  private EngineRequest sent(Setup setup, String body, String... headers) throws Exception {
    engine.clearRequests();
    try (ExtProcRig rig = new ExtProcRig(service().build(), setup)) {
      assertThat(ask(rig, body, headers).status()).isEqualTo(200);
      assertThat(rig.service().heldBytes()).isZero();
      assertThat(rig.envoy().failures()).isEmpty();
    }
    return engine.requests().get(0);
  }

  @Test
  void completeBody_getsTheModel() throws Exception {
    String expected = WHOLE.replace("tiny", "tiny-v2-lora");
    for (Setup setup : List.of(DUPLEX, BUFFERED, PARTIAL)) {
      EngineRequest request = sent(setup, WHOLE, HEADER + ": tiny-v2-lora");
      assertThat(request.bodyText()).isEqualTo(expected);
      assertThat(request.headers("content-length"))
          .containsExactly(Integer.toString(expected.length()));
    }
  }

  @Test
  void spanKeepsTheModelThatTheClientNamed() throws Exception {
    sent(DUPLEX, STREAM, HEADER + ": other");
    assertThat(span().attribute("gen_ai.request.model")).isEqualTo("tiny");
    assertThat(span().attribute("gen_ai.response.model")).isEqualTo("other");
  }

  @Test
  void largeBody_isRewrittenInPieces() throws Exception {
    String body =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}],\"model\" : \"tiny\" }"
            .formatted("word ".repeat(100_000));
    assertThat(sent(DUPLEX, body, HEADER + ": t").bodyText())
        .isEqualTo(body.replace("\"tiny\"", "\"t\""));
  }

  @Test
  void currentHeader_winsOverTheFormerOne() throws Exception {
    String former = "x-gateway-model-name-rewrite: former";
    assertThat(sent(BUFFERED, WHOLE, former).bodyText()).contains("\"former\"");
    assertThat(sent(BUFFERED, WHOLE, former, HEADER + ": current").bodyText())
        .contains("\"current\"");
  }

  @Test
  void nameThatNeedsEscapes_isEscaped() throws Exception {
    assertThat(sent(DUPLEX, WHOLE, HEADER + ": a\"b\\c").bodyText())
        .contains("{\"model\":\"a\\\"b\\\\c\",");
  }

  @Test
  void bodyWithoutModelOrIncompleteBody_isNotChanged() throws Exception {
    Setup streamed = Setup.of(BodyMode.STREAMED, BodyMode.STREAMED);
    assertThat(sent(streamed, WHOLE, HEADER + ": other").bodyText()).isEqualTo(WHOLE);
    String nameless = "{\"prompt\":\"one\"}";
    assertThat(sent(DUPLEX, nameless, HEADER + ": other").bodyText()).isEqualTo(nameless);
    assertThat(sent(DUPLEX, WHOLE, HEADER + ": ").bodyText()).isEqualTo(WHOLE);
    assertThat(sent(DUPLEX, WHOLE, HEADER + ": " + "x".repeat(2000)).bodyText()).isEqualTo(WHOLE);
    assertThat(sent(DUPLEX, WHOLE, HEADER + ": tiny").bodyText()).isEqualTo(WHOLE);
  }

  @Test
  void endpoint_isChosenForTheModelThatAnswers() throws Exception {
    Queue<String> models = new ConcurrentLinkedQueue<>();
    Filter noting =
        new Filter() {
          @Override
          public String type() {
            return "noting";
          }

          @Override
          public List<Endpoint> filter(Cycle cycle, List<Endpoint> endpoints, Context context) {
            models.add(cycle.request().model());
            return endpoints;
          }
        };
    Scheduler scheduler =
        Scheduler.builder(new SingleProfileHandler())
            .profile(SchedulerProfile.named("default").filter(noting).picker(new MaxScorePicker()))
            .build();
    try (ExtProcRig rig = new ExtProcRig(serviceBy(scheduler), DUPLEX)) {
      ask(rig, WHOLE, HEADER + ": other");
      ask(rig, WHOLE);
    }
    assertThat(models).containsExactly("other", "tiny");
  }
}
