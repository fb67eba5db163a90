import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;

/** The stand-in for decode engine, prefill engine and collector, with counts of the requests that it received. */
record Upstream(Server server, int prefillPort) {
  private static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  static Upstream start(Workbench bench, int processes) throws IOException {
    int port = Workbench.freePort();
    int prefillPort = Workbench.freePort();
    List<String> command =
        List.of(bench.tool("upstream"), "" + port, "" + prefillPort, "" + processes);
    return new Upstream(
        bench.start("upstream", port, command).awaitAnswer("/v1/models"), prefillPort);
  }

  int port() {
    return server.port();
  }

  /** Returns the header with which a client selects the prefill engine. */
  String prefillHeader() {
    return "x-prefiller-host-port: 127.0.0.1:" + prefillPort;
  }

  /** Returns a counter of the upstream, such as {@code prefills} or {@code trace_bytes}. */
  long count(String what) {
    return ((Number) ((Map<?, ?>) Json.read(get("/stats"))).get(what)).longValue();
  }

  /** Returns the last body of a request with the header {@code x-bench-record}, in the {@code prefill} or {@code decode} stage.
   */
  Map<?, ?> last(String stage) {
    return (Map<?, ?>) Json.read(get("/last/" + stage));
  }

  private String get(String path) {
    return send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path)).build());
  }

  /** Sends a request and returns the response body; fails unless the status is 200. */
  static String send(HttpRequest request) {
    try {
      HttpResponse<String> answer = CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() != 200) {
        throw new InvalidRunException(request.uri() + " answered " + answer.statusCode() + ".");
      }
      return answer.body();
    } catch (IOException | InterruptedException e) {
      throw new InvalidRunException(request.uri() + " does not answer: " + e);
    }
  }
}
