package io.inferspan.samples.demo;

import io.inferspan.samples.demo.engine.Behaviour;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The six requests of the demo. */
enum Scenario {
  /** No pod has the prompt's prefix in its cache, so a prefill pod computes the prompt. */
  COLD_PREFIX(
      "a long prompt that no cache holds: prefilled on one pod, decoded on another",
      Behaviour.NORMAL,
      timetable("Altdorf", 36) + asking("Birkenau")),
  /** The decode pod's cache still has the prefix from the first request. */
  WARM_PREFIX(
      "a prompt with the same beginning: the pod that has it in its cache prefills only the rest",
      Behaviour.NORMAL,
      timetable("Altdorf", 36) + asking("Dornbach")),
  /** The prompt is too short for a KV transfer. */
  SHORT_PROMPT(
      "a short prompt: decoded without a prefill pod, regardless of the caches",
      Behaviour.NORMAL,
      "Is there a train at noon?"),
  /** The prefill pod is slow. */
  SLOW_PREFILL(
      "a prefill pod that is slow",
      Behaviour.SLOW_PREFILL,
      timetable("Cranach", 36) + asking("Dornbach")),
  /** The prefill pod fails. */
  FAILING_PREFILL(
      "a prefill pod that fails",
      Behaviour.FAILING_PREFILL,
      timetable("Eberswalde", 36) + asking("Falkenberg")),
  /** The client disconnects before the end. */
  HANG_UP(
      "a client that disconnects in the middle of the response",
      Behaviour.LONG_ANSWER,
      timetable("Altdorf", 36) + asking("Gera"));

  private static final String MODEL = "demo";
  private static final int EVENTS_BEFORE_DISCONNECT = 12;

  private final String about;
  private final Behaviour behaviour;
  private final String prompt;

  Scenario(String about, Behaviour behaviour, String prompt) {
    this.about = about;
    this.behaviour = behaviour;
    this.prompt = prompt;
  }

  /** Returns a description in one line. */
  String about() {
    return about;
  }

  /** Returns the request, with this id, by which its trace can be found. */
  DemoRequest request(String id) {
    return new DemoRequest(
        id,
        body(prompt),
        behaviour,
        this == HANG_UP ? EVENTS_BEFORE_DISCONNECT : Integer.MAX_VALUE);
  }

  /** Returns a request for continuous load, usually with a cached prefix. */
  static DemoRequest forLoad(String id, long number) {
    String town = number % 4 == 0 ? "Town-" + number : "Altdorf";
    String text =
        number % 4 == 1
            ? "Is there a train at " + number + " minutes past?"
            : timetable(town, 36) + asking("Stop-" + number);
    return new DemoRequest(id, body(text), Behaviour.NORMAL, Integer.MAX_VALUE);
  }

  /**
   * A request of the demo.
   *
   * @param id the {@code x-request-id}
   * @param events the number of events that the client reads before it disconnects
   */
  record DemoRequest(String id, String body, Behaviour behaviour, int events) {}

  private static String body(String prompt) {
    return """
        {"model":"%s","stream":true,"stream_options":{"include_usage":true},"messages":[\
        {"role":"system","content":"You know the trains and answer in one sentence."},\
        {"role":"user","content":"%s"}]}"""
        .formatted(MODEL, prompt);
  }

  private static String timetable(String from, int trains) {
    return IntStream.range(0, trains)
        .mapToObj(
            train ->
                "Train %d leaves %s at %d:%02d on platform %d and reaches the border an hour later. "
                    .formatted(train, from, 5 + train / 2, train % 2 * 30 + 4, 1 + train % 5))
        .collect(Collectors.joining());
  }

  private static String asking(String to) {
    return "Which one is the first to reach %s after a quarter to nine?".formatted(to);
  }
}
