import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The processes under test, all on the server core. Only one of them gets requests at a time. */
record Gateways(
    Workbench bench,
    Upstream upstream,
    Server ours,
    int traced,
    int counted,
    Server vertx,
    Server agent)
    implements AutoCloseable {

  private static final Path JAR = Path.of(System.getProperty("bench.jar"));
  private static final String FLAGS =
      "-Xmx512m -XX:+UseSerialGC -XX:-UseDynamicNumberOfCompilerThreads"
          + " --sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED";

  /** Starts the processes that the subjects need. The fields of the others refer to the first process and are not used. */
  static Gateways start(Workbench bench, Upstream upstream, List<Subject> subjects)
      throws IOException {
    int traced = Workbench.freePort();
    int counted = Workbench.freePort();
    Server ours = start(bench, upstream, "ours", List.of(), traced, counted);
    Server vertx =
        subjects.contains(Subject.VERTX_0) ? start(bench, upstream, "vertx", List.of()) : ours;
    String agentJar = "-javaagent:" + JAR.resolveSibling("opentelemetry-javaagent.jar");
    Server agent =
        subjects.contains(Subject.AGENT_0)
            ? start(bench, upstream, "plain", List.of(agentJar))
            : ours;
    return new Gateways(bench, upstream, ours, traced, counted, vertx, agent);
  }

  private static Server start(
      Workbench bench, Upstream upstream, String what, List<String> also, int... ports)
      throws IOException {
    int port = Workbench.freePort();
    String flags = System.getenv().getOrDefault("GATEWAY_JAVA_FLAGS", FLAGS);
    List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java"));
    command.addAll(Arrays.stream(flags.split(" ")).filter(flag -> !flag.isEmpty()).toList());
    command.addAll(also);
    command.addAll(List.of("-jar", JAR.toString(), what));
    command.addAll(List.of("" + upstream.port(), "" + upstream.prefillPort(), "" + port));
    Arrays.stream(ports).forEach(each -> command.add("" + each));
    Map<String, String> environment =
        Map.of(
            "OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:" + upstream.port(),
            "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf",
            "OTEL_TRACES_SAMPLER", "parentbased_always_on",
            "OTEL_METRICS_EXPORTER", "none",
            "OTEL_LOGS_EXPORTER", "none");
    return bench.startPinned(what, port, command, environment).awaitAnswer("/v1/models");
  }

  Server serverOf(Subject subject) {
    return switch (subject) {
      case VERTX_0, VERTX_10, VERTX_100 -> vertx;
      case AGENT_0, AGENT_10, AGENT_100 -> agent;
      default -> ours;
    };
  }

  int portOf(Subject subject) {
    return switch (subject) {
      case OURS_0, OURS_10, OURS_100 -> traced;
      case COUNTED_0, COUNTED_100 -> counted;
      default -> serverOf(subject).port();
    };
  }

  @Override
  public void close() {
    List.of(ours, vertx, agent).forEach(Server::close);
  }
}
