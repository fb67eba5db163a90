package io.inferspan.samples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.samples.quickstart.PrefixScorer.Match;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class QuickStartDecisionTest {

  private static final List<String> PODS = List.of("a", "b");

  private final Telemetry telemetry = Telemetry.using(OpenTelemetry.noop());
  private final OperationSpan request =
      telemetry.span(GatewaySpans.REQUEST, Context.root()).start();
  private final PrefixScorer scorer = new PrefixScorer(telemetry);
  private final PdDecision decision = new PdDecision(telemetry, "127.0.0.1:8000");

  @Test
  void longPrompt_isDisaggregated_untilItIsCached() {
    byte[] prompt = Timetable.QUESTION.getBytes(StandardCharsets.UTF_8);

    Match first = best(prompt);
    scorer.remember(first);
    Match second = best(prompt);

    assertThat(decision.isDisaggregated(request, prompt.length, first)).isTrue();
    assertThat(decision.isDisaggregated(request, prompt.length, second)).isFalse();
  }

  @Test
  void prompt_isDisaggregated_fromTheThresholdOn() {
    int threshold = PdDecision.THRESHOLD_BYTES;

    assertThat(decision.isDisaggregated(request, threshold - 1, best(new byte[threshold - 1])))
        .isFalse();
    assertThat(decision.isDisaggregated(request, threshold, best(new byte[threshold]))).isTrue();
  }

  @Test
  void podWithTheLongerPrefix_wins() {
    byte[] prompt = Timetable.QUESTION.getBytes(StandardCharsets.UTF_8);
    List<Long> blocks = best(prompt).blocks();
    scorer.remember(new Match("a", blocks.subList(0, 2), 0));
    scorer.remember(new Match("b", blocks.subList(0, 5), 0));

    assertThat(best(prompt)).isEqualTo(new Match("b", blocks, 5));
  }

  @Test
  void blocksAfterAGap_doNotCount() {
    byte[] prompt = Timetable.QUESTION.getBytes(StandardCharsets.UTF_8);
    List<Long> blocks = best(prompt).blocks();
    scorer.remember(new Match("a", blocks.subList(0, 1), 0));
    scorer.remember(new Match("b", blocks.subList(1, 9), 0));

    assertThat(best(prompt)).isEqualTo(new Match("a", blocks, 1));
  }

  @Test
  void samePrefixElsewhereInThePrompt_isAnotherBlock() {
    byte[] prompt = "x".repeat(2 * PrefixScorer.BLOCK_BYTES).getBytes(StandardCharsets.UTF_8);

    assertThat(best(prompt).blocks()).hasSize(2).doesNotHaveDuplicates();
  }

  private Match best(byte[] prompt) {
    return scorer.best(request, "model", prompt, PODS);
  }
}
