import java.util.List;
import java.util.Map;

/** A gateway under test, and the percentage of its requests that arrive sampled. */
enum Subject {
  WITHOUT("without Inferspan", 100),
  OURS_0("tracing, 0 % sampled", 0),
  OURS_10("tracing, 10 % sampled", 10),
  OURS_100("tracing, all sampled", 100),
  COUNTED_0("tracing and meters, 0 % sampled", 0),
  COUNTED_100("tracing and meters, all sampled", 100),
  VERTX_0("vertx-opentelemetry, 0 % sampled", 0),
  VERTX_10("vertx-opentelemetry, 10 % sampled", 10),
  VERTX_100("vertx-opentelemetry, all sampled", 100),
  AGENT_0("Java agent, 0 % sampled", 0),
  AGENT_10("Java agent, 10 % sampled", 10),
  AGENT_100("Java agent, all sampled", 100);

  static final List<Subject> UNSAMPLED = List.of(WITHOUT, OURS_0);

  /** Groups of subjects that an option selects, so that a run takes only a few minutes. */
  static final Map<String, List<Subject>> PARTS =
      Map.of(
          "--ours", List.of(WITHOUT, OURS_0, OURS_10, OURS_100),
          "--unsampled", UNSAMPLED,
          "--meters", List.of(WITHOUT, COUNTED_0, COUNTED_100),
          "--vertx", List.of(WITHOUT, VERTX_0, VERTX_10, VERTX_100),
          "--agent", List.of(WITHOUT, AGENT_0, AGENT_10, AGENT_100));

  final String label;
  final int sampledPercent;

  Subject(String label, int sampledPercent) {
    this.label = label;
    this.sampledPercent = sampledPercent;
  }
}
