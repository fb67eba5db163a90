package io.inferspan.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.epp.plugins.disagg.Decider;
import io.inferspan.epp.plugins.disagg.DisaggHeaders;
import io.inferspan.epp.plugins.disagg.DisaggProfileHandler;
import io.inferspan.epp.plugins.pick.MaxScorePicker;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.epp.scheduling.SchedulerProfile;
import io.inferspan.epp.tracing.EppTracing;
import io.inferspan.extproc.EnvoyStandIn.Setup;
import io.inferspan.extproc.proto.Envoy.BodyMode;
import io.inferspan.testing.SpanRecord;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Requests with pictures behind Envoy, whose encoding may go elsewhere. */
final class MediaRequestTest extends ExtProcFixture {

  private static final String PICTURES =
      """
      {"model":"tiny","messages":[{"role":"user","content":[{"type":"text","text":"what?"},\
      {"type":"image_url","image_url":{"url":"https://a/1.png"}},\
      {"type":"image_url","image_url":{"url":"https://a/1.png"}}]}]}\
      """;

  private SpanRecord prepared(Setup setup, String body) throws Exception {
    tracing.clear();
    engine.clearRequests();
    Scheduler scheduler =
        Scheduler.builder(
                DisaggProfileHandler.builder().encodeDecider(Decider.multimodal()).build())
            .profile(SchedulerProfile.named("decode").picker(new MaxScorePicker()))
            .profile(SchedulerProfile.named("encode").picker(new MaxScorePicker()))
            .preRequest(new DisaggHeaders())
            .tracing(EppTracing.create(Telemetry.using(tracing.openTelemetry())))
            .build();
    try (ExtProcRig rig = new ExtProcRig(serviceBy(scheduler), setup)) {
      assertThat(ask(rig, body).status()).isEqualTo(200);
    }
    return tracing.spans().stream()
        .filter(span -> span.name().equals("llm_d.epp.prerequest.pd_disaggregation"))
        .findFirst()
        .orElseThrow();
  }

  private String encoders() {
    return String.valueOf(engine.requests().get(0).header("x-encoder-hosts-ports"));
  }

  @Test
  void pictures_areCountedAndEncodedElsewhere() throws Exception {
    for (Setup setup : List.of(DUPLEX, BUFFERED)) {
      SpanRecord span = prepared(setup, PICTURES);
      assertThat(span.attribute("mm.modality")).isEqualTo("image");
      assertThat(span.attribute("mm.hash_count")).isEqualTo(1L);
      assertThat(encoders()).isEqualTo(endpoint().authority());
    }
  }

  @Test
  void text_hasNone() throws Exception {
    SpanRecord span = prepared(DUPLEX, WHOLE);
    assertThat(span.attribute("mm.modality")).isEqualTo("none");
    assertThat(span.attribute("mm.hash_count")).isEqualTo(0L);
    assertThat(encoders()).isEqualTo("null");
  }

  @Test
  void bodyThatHasNotArrived_isNotRecordedAsBodyWithoutMedia() throws Exception {
    SpanRecord span = prepared(Setup.of(BodyMode.STREAMED, BodyMode.STREAMED), PICTURES);
    assertThat(span.attributes()).doesNotContainKeys("mm.modality", "mm.hash_count");
    assertThat(encoders()).isEqualTo("null");
  }
}
