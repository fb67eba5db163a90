package io.inferspan.samples.desk;

import io.inferspan.samples.desk.TimingProxy.TimedRequest;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The desk's division of a time to the first token, for comparison with measured times. */
final class ShownAnatomy {

  private static final double EXACTLY = 0.05;

  private final double traceMillis;
  private final double ttftMillis;
  private final List<Map<String, Object>> parts;
  private final Map<String, Double> off = new LinkedHashMap<>();

  /** Reads the parts from the data of a trace that the page gets. */
  ShownAnatomy(Map<String, Object> view) {
    traceMillis = number(object(view, "summary"), "startMs");
    Map<String, Object> anatomy = object(view, "anatomy");
    ttftMillis = number(anatomy, "ttftMs");
    parts = RunningDesk.list(anatomy, "parts");
  }

  double sumMillis() {
    return parts.stream().mapToDouble(part -> number(part, "ms")).sum();
  }

  double ttftMillis() {
    return ttftMillis;
  }

  boolean has(String key) {
    return parts.stream().anyMatch(part -> key.equals(part.get("key")));
  }

  /** Records the difference from the time that a client measured. */
  void compare(TimedRequest client) {
    between("arrival", traceMillis, client.sentMillis(), client.sentMillis());
    between("first token", ttftMillis, client.tookMillis(), client.tookMillis());
  }

  /**
   * Records the difference from an engine's script. The engine waits and then computes for at least
   * these times, so it cannot have begun to compute before the wait was over, nor so late that the
   * computation did not fit.
   */
  void compare(
      String waiting,
      String computing,
      TimedRequest engine,
      double waitMillis,
      double computeMillis) {
    Map<String, Object> waited = ofEngine(waiting);
    Map<String, Object> computed = ofEngine(computing);
    between(waiting + " begins", start(waited), engine.sentMillis(), engine.sentMillis());
    between(
        computing + " begins",
        start(computed),
        engine.sentMillis() + waitMillis,
        engine.firstTokenMillis() - computeMillis);
    between(
        computing + " ends",
        start(computed) + number(computed, "ms"),
        engine.firstTokenMillis(),
        engine.firstTokenMillis());
    double gap = start(computed) - start(waited) - number(waited, "ms");
    if (Math.abs(gap) > EXACTLY) {
      throw new AssertionError("%s and %s are %f ms apart".formatted(waiting, computing, gap));
    }
  }

  /** Returns the largest difference. */
  double offMillis() {
    return off.values().stream().mapToDouble(Math::abs).max().orElseThrow();
  }

  @Override
  public String toString() {
    return "off by " + off + " ms: " + parts;
  }

  private void between(String what, double shown, double lowest, double highest) {
    double low = Math.min(lowest, highest);
    double high = Math.max(lowest, highest);
    off.put(what, shown < low ? shown - low : Math.max(0, shown - high));
  }

  private double start(Map<String, Object> part) {
    return traceMillis + number(part, "atMs");
  }

  private Map<String, Object> ofEngine(String key) {
    List<Map<String, Object>> found =
        parts.stream()
            .filter(part -> key.equals(part.get("key")))
            .filter(part -> String.valueOf(part.get("source")).startsWith("llm_request"))
            .toList();
    if (found.size() != 1) {
      throw new AssertionError("expected one part " + key + " of an engine, but found " + parts);
    }
    return found.getFirst();
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> object(Map<String, Object> json, String name) {
    return (Map<String, Object>) RunningDesk.member(json, name);
  }

  private static double number(Map<String, Object> json, String name) {
    return (Double) RunningDesk.member(json, name);
  }
}
