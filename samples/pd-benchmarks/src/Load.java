import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A kind of request: the arguments of the load generator except target, number of requests and rate. */
record Load(
    String path,
    int chatBytes,
    boolean stream,
    boolean prefill,
    int leastBody,
    int sampledPercent) {
  /** The load generator's result; latencies in microseconds. */
  record Result(long requests, double seconds, long p50, long p99) {}

  /** A request without a body. */
  static Load get(String path, int leastBody) {
    return new Load(path, 0, false, false, leastBody, -1);
  }

  /** A chat request with a separate prefill. */
  static Load disaggregated(String path, int chatBytes, boolean stream, int leastBody) {
    return new Load(path, chatBytes, stream, true, leastBody, -1);
  }

  Load sampled(int percent) {
    return new Load(path, chatBytes, stream, prefill, leastBody, percent);
  }

  List<String> command(Workbench bench, int port, Upstream upstream) {
    List<String> command =
        new ArrayList<>(List.of(bench.tool("load"), "--port=" + port, "--path=" + path));
    command.add("--least-body=" + leastBody);
    command.add("--sampled=" + sampledPercent);
    command.add("--chat-bytes=" + chatBytes);
    if (stream) {
      command.add("--stream");
    }
    if (prefill) {
      command.add("--header=" + upstream.prefillHeader());
    }
    return command;
  }

  /** Runs the load generator. Any response that is not a complete 200 makes the run invalid.
   */
  static Result run(String name, List<String> command) throws IOException {
    Process load = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(load.getInputStream().readAllBytes());
    Map<String, String> figures = new HashMap<>();
    for (String pair : output.strip().split(" ")) {
      String[] parts = pair.split("=", 2);
      figures.put(parts[0], parts[parts.length - 1]);
    }
    if (!"0".equals(figures.get("errors"))) {
      throw new InvalidRunException(
          "Invalid run: not every response of " + name + " was a complete 200 (" + output.strip() + ").");
    }
    return new Result(
        Long.parseLong(figures.get("requests")),
        Double.parseDouble(figures.get("seconds")),
        Long.parseLong(figures.get("p50")),
        Long.parseLong(figures.get("p99")));
  }
}
