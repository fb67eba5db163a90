package io.inferspan.samples.desk.web;

import io.inferspan.samples.desk.store.Summary;
import io.inferspan.samples.desk.trace.BatchPart;
import io.inferspan.samples.desk.trace.BatchPart.Neighbour;
import io.inferspan.samples.desk.trace.BatchPart.Phase;
import io.inferspan.samples.desk.trace.BatchPart.Steps;
import io.inferspan.samples.desk.trace.BatchPart.Waits;
import io.inferspan.samples.desk.trace.TraceView;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Explains, as text for a terminal, how long a request waited and computed in an engine's batches.
 */
final class Explanation {

  private static final int MAX_NEIGHBOURS = 20;
  private static final double NANOS_PER_MILLI = 1e6;
  private static final int PERCENT = 100;

  private final StringBuilder text = new StringBuilder();

  private Explanation() {}

  static String of(TraceView view) {
    Explanation explanation = new Explanation();
    explanation.head(view.summary());
    if (view.parts().isEmpty()) {
      explanation.line("");
      explanation.line(
          "No engine reported this request's steps. Run the eBPF bridge, and the vLLM plugin in the"
              + " engine.");
    }
    view.parts().forEach(explanation::part);
    return explanation.text.toString();
  }

  /** Adds a line and removes control characters: names from spans may contain escape sequences. */
  private void line(String line) {
    line.codePoints()
        .map(letter -> Character.isISOControl(letter) ? '?' : letter)
        .forEach(text::appendCodePoint);
    text.append('\n');
  }

  private void head(Summary summary) {
    Double ttft = summary.outcome().ttftMillis();
    line(String.format(Locale.ROOT, "%s  %s", summary.traceId(), name(summary)));
    line(
        String.format(
            Locale.ROOT,
            "%s, took %.1f ms%s: %s",
            summary.outcome().status().label(),
            summary.head().durationMillis(),
            ttft == null ? "" : String.format(Locale.ROOT, ", first token after %.1f ms", ttft),
            summary.why().sentence()));
  }

  private static String name(Summary summary) {
    String id = summary.requestId() == null ? summary.head().name() : summary.requestId();
    return summary.model() == null ? id : id + " (" + summary.model() + ")";
  }

  private void part(BatchPart part) {
    line("");
    part.phases().forEach(this::phase);
    Steps steps = part.steps();
    if (steps == null) {
      line(
          "No step of the engine was received: steps are sampled separately, and old ones are"
              + " dropped.");
      return;
    }
    line(
        String.format(
            Locale.ROOT,
            "%d of %d steps were received; up to %d requests in a step, up to %d of them untraced.",
            steps.seen(),
            steps.ran(),
            steps.mostMembers(),
            steps.mostUntraced()));
    waits(steps.waits());
    neighbours(part);
  }

  private void phase(Phase phase) {
    double millis = (phase.endNanos() - phase.startNanos()) / NANOS_PER_MILLI;
    Long share = phase.shareNanos();
    Long busy = phase.busyNanos();
    if (share == null || busy == null) {
      line(String.format(Locale.ROOT, "  %-8s%9.1f ms", phase.name(), millis));
      return;
    }
    line(
        String.format(
            Locale.ROOT,
            "  %-8s%9.1f ms  %s, %s, GPU %.1f of %.1f ms (%d %%, ± %.1f ms by %s),"
                + " coverage %s",
            phase.name(),
            millis,
            many(phase.steps(), "step"),
            many(phase.tokens(), "token"),
            share / NANOS_PER_MILLI,
            busy / NANOS_PER_MILLI,
            busy == 0 ? 0 : Math.round(PERCENT * share / (double) busy),
            phase.boundNanos() == null ? 0 : phase.boundNanos() / NANOS_PER_MILLI,
            phase.model(),
            phase.coverage()));
  }

  private static String many(@Nullable Long count, String noun) {
    return (count == null ? "? " : count + " ") + noun + (count != null && count == 1 ? "" : "s");
  }

  private void waits(Waits waits) {
    if (waits.queuedBehind() > 0) {
      line(String.format(Locale.ROOT, "Queued while %s ran.", many(waits.queuedBehind(), "step")));
    }
    Long stall = waits.stallNanos();
    if (waits.stalls() > 0) {
      line(
          String.format(
              Locale.ROOT,
              "Stalled in %s with prompts of other requests%s.",
              many(waits.stalls(), "decode step"),
              stall == null
                  ? "; the delay is unknown, because there are no other decode steps"
                  : String.format(Locale.ROOT, ": %.1f ms in all", stall / NANOS_PER_MILLI)));
    }
    if (waits.leftOut() > 0) {
      line(
          String.format(
              Locale.ROOT,
              "Between its first and last step, %s ran without it: %.1f ms of GPU time.",
              many(waits.leftOut(), "step"),
              waits.leftOutNanos() / NANOS_PER_MILLI));
    }
    if (waits.untracedNanos() > 0) {
      line(
          String.format(
              Locale.ROOT,
              "%.1f ms of these waits are in steps with prompts of untraced requests.",
              waits.untracedNanos() / NANOS_PER_MILLI));
    }
  }

  private void neighbours(BatchPart part) {
    if (part.neighbours().isEmpty()) {
      line("No other traced request shared its steps.");
      return;
    }
    Neighbour first = part.neighbours().get(0);
    if (first.waitNanos() > 0) {
      line(
          String.format(
              Locale.ROOT,
              "%s made it wait longest: %.1f ms, for %s of that request's prompt.",
              name(first),
              first.waitNanos() / NANOS_PER_MILLI,
              many(first.promptTokens(), "token")));
    }
    line("");
    line(
        String.format(
            Locale.ROOT,
            "  %12s  %13s  %12s  request",
            "shared steps",
            "prompt tokens",
            "made it wait"));
    part.neighbours().stream()
        .limit(MAX_NEIGHBOURS)
        .forEach(
            neighbour ->
                line(
                    String.format(
                        Locale.ROOT,
                        "  %12d  %13d  %9.1f ms  %s  %s",
                        neighbour.steps(),
                        neighbour.promptTokens(),
                        neighbour.waitNanos() / NANOS_PER_MILLI,
                        neighbour.traceId(),
                        neighbour.other() == null ? "" : name(neighbour.other()))));
    if (part.neighbours().size() > MAX_NEIGHBOURS) {
      line(
          String.format(Locale.ROOT, "  … and %d more", part.neighbours().size() - MAX_NEIGHBOURS));
    }
  }

  private static String name(Neighbour neighbour) {
    return neighbour.other() == null ? neighbour.traceId().toString() : name(neighbour.other());
  }
}
