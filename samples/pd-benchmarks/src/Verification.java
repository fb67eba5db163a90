import java.net.URI;
import java.net.http.HttpRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Verifies that a server follows the nixlv2 protocol: sends one request, and checks what the upstream received. */
final class Verification {
  private static final String REQUEST =
      """
      {"model":"bench","messages":[{"role":"user","content":"caf\\u00e9 \\"\\n é <&>"}],"temperature":0.5,
       "max_tokens":64,"stream":true,"stream_options":{"include_usage":true},"kv_transfer_params":{"stale":1}}
      """;

  private static final Map<?, ?> PREFILL_PARAMS =
      (Map<?, ?>)
          Json.read(
              """
              {"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,
               "remote_block_ids":null,"remote_host":null,"remote_port":null}
              """);

  private final List<String> wrong = new ArrayList<>();

  private Verification() {}

  /** Fails if the body of a stage violates the protocol. */
  static void of(Server server, Upstream upstream) {
    String[] header = upstream.prefillHeader().split(": ");
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + server.port() + "/v1/chat/completions?mode=burst"))
            .header("Content-Type", "application/json")
            .header(header[0], header[1])
            .header("x-bench-record", "1")
            .POST(HttpRequest.BodyPublishers.ofString(REQUEST))
            .build();
    long prefills = upstream.count("prefills");
    String answer = Upstream.send(request);
    Verification found = new Verification();
    found.expect("prefills", 1L, upstream.count("prefills") - prefills);
    found.expect("events", 64L, answer.lines().filter(line -> line.startsWith("data: ")).count());
    found.checkPrefill(upstream.last("prefill"));
    found.checkDecode(upstream.last("decode"));
    if (!found.wrong.isEmpty()) {
      throw new InvalidRunException(
          server.name() + " does not follow the nixlv2 protocol: " + String.join("; ", found.wrong));
    }
  }

  private void checkPrefill(Map<?, ?> body) {
    checkUntouched("prefill", body);
    expect("prefill kv_transfer_params", PREFILL_PARAMS, body.get("kv_transfer_params"));
    expect("prefill stream", false, body.get("stream"));
    expect("prefill stream_options", null, body.get("stream_options"));
    expect("prefill max_tokens", 1.0, body.get("max_tokens"));
    expect("prefill max_completion_tokens", 1.0, body.get("max_completion_tokens"));
    // Older versions of llm-d set min_tokens to 1, newer ones remove it.
    expect(
        "prefill min_tokens",
        1.0,
        Objects.requireNonNullElse((Double) body.get("min_tokens"), 1.0));
  }

  private void checkDecode(Map<?, ?> body) {
    checkUntouched("decode", body);
    Map<?, ?> original = (Map<?, ?>) Json.read(REQUEST);
    for (String field :
        List.of("stream", "stream_options", "max_tokens", "max_completion_tokens", "min_tokens")) {
      expect("decode " + field, original.get(field), body.get(field));
      expect("decode has " + field, original.containsKey(field), body.containsKey(field));
    }
    Map<?, ?> params = (Map<?, ?>) body.get("kv_transfer_params");
    expect("decode do_remote_prefill", true, params.get("do_remote_prefill"));
    expect("decode remote_host", "10.0.0.7", params.get("remote_host"));
    expect("decode remote_block_ids", 16, ((List<?>) params.get("remote_block_ids")).size());
    expect("decode kv_transfer_params", 6, params.size());
  }

  private void checkUntouched(String stage, Map<?, ?> body) {
    Map<?, ?> original = (Map<?, ?>) Json.read(REQUEST);
    for (String field : List.of("model", "messages", "temperature")) {
      expect(stage + " " + field, original.get(field), body.get(field));
    }
  }

  private void expect(String what, Object expected, Object actual) {
    if (!Objects.equals(expected, actual)) {
      wrong.add(what + " is " + actual + ", not " + expected);
    }
  }
}
