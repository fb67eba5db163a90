package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.BridgeStatus;
import io.inferspan.ebpf.BridgeStatus.Program;
import io.inferspan.export.SpanCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Formats the agent's messages at its start and its end. */
final class AgentText {

  /**
   * How the outcome of a library without a function to probe ends; such libraries are not listed.
   */
  private static final String NOTHING_IN_IT = "no known function";

  private AgentText() {}

  /**
   * Returns the lines at the start: one for each part that could not be attached, and one that says
   * that the agent is ready.
   */
  static List<String> ready(BridgeStatus status, String scope, String destination) {
    List<String> lines = new ArrayList<>();
    for (Program program : status.programs()) {
      if (!program.problem().isEmpty()) {
        lines.add("without " + program.name() + ": " + program.problem());
      }
    }
    status.libraries().stream()
        .map(BridgeStatus.Library::outcome)
        .filter(outcome -> !outcome.endsWith(NOTHING_IN_IT))
        .forEach(outcome -> lines.add("library " + outcome));
    lines.add(
        "ready: watching %s; attached: %s; spans go to %s"
            .formatted(scope, attached(status), destination));
    return lines;
  }

  private static String attached(BridgeStatus status) {
    String objects =
        status.programs().stream()
            .filter(Program::attached)
            .map(Program::object)
            .distinct()
            .collect(Collectors.joining(", "));
    return objects.isEmpty() ? "nothing yet" : objects;
  }

  /** Returns the line at the end, with the counts of events and spans. */
  static String ended(BridgeStatus last, SpanCounts spans) {
    long read = last.events().stream().mapToLong(BridgeStatus.Events::read).sum();
    return "detached: %,d events read, %,d lost; %,d spans sent, %,d dropped"
        .formatted(read, last.lost(), spans.exported(), spans.dropped().total());
  }
}
