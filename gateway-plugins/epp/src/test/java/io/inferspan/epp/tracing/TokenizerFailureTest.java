package io.inferspan.epp.tracing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.plugins.score.PrecisePrefixCacheScorer;
import io.inferspan.testing.TracingExtension;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class TokenizerFailureTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  @Test
  void aTokenizerThatThrows_failsTheLookupThatNeedsTokens() {
    InferenceRequest request =
        InferenceRequest.to("m")
            .input("the prompt".getBytes(UTF_8))
            .tokenizedBy(
                (model, input) -> {
                  throw new IllegalStateException("the prompt");
                })
            .build();
    PrecisePrefixCacheScorer scorer =
        new PrecisePrefixCacheScorer(
            (tokens, model, pods, context) -> CompletableFuture.completedFuture(Map.of()));
    EppTracing epp = EppTracing.create(Telemetry.using(tracing.openTelemetry()));

    double[] scores =
        Fleet.scores(new TracedScorer(epp, scorer, 1), Fleet.cycle(request), Fleet.pods(2));

    assertThat(scores).containsOnly(Double.NaN);
    assertThat(tracing.spans())
        .anySatisfy(
            span -> {
              assertThat(span.isError()).isTrue();
              assertThat(span.toString()).contains("IllegalStateException");
            })
        .noneMatch(span -> span.toString().contains("the prompt"));
  }
}
