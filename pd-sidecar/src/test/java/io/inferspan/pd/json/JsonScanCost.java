package io.inferspan.pd.json;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;

/**
 * Compares the time of a scan and the edits for prefill and decode with that of a Jackson tree, and
 * with that of Jackson's parser.
 */
final class JsonScanCost {
  private static final byte[] PREFILL =
      "{\"do_remote_decode\":true,\"do_remote_prefill\":false,\"remote_engine_id\":null}"
          .getBytes(UTF_8);
  private static final byte[] DECODE =
      "{\"remote_block_ids\":[1,2,3],\"remote_engine_id\":\"5b5fb28f\",\"remote_port\":4032}"
          .getBytes(UTF_8);
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final JsonFactory FACTORY =
      new JsonFactoryBuilder()
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(1_000)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .build())
          .build();

  /** An operation whose time is measured. */
  private interface Work {
    int run(byte[] body) throws IOException, InvalidJson;
  }

  private JsonScanCost() {}

  public static void main(String[] args) throws IOException, InvalidJson {
    for (String language : new String[] {"English", "escaped", "Japanese"}) {
      for (int size : new int[] {2_000, 200_000}) {
        byte[] body = chat(size, language);
        String name = language + " " + body.length;
        report(name, "splice", JsonScanCost::splice, body);
        report(name, "scan only", JsonScanCost::scan, body);
        report(name, "Jackson parser, no edit", JsonScanCost::parse, body);
        report(name, "Jackson tree", JsonScanCost::tree, body);
      }
    }
  }

  private static byte[] chat(int size, String language) {
    String sentence =
        switch (language) {
          case "English" ->
              "The quick brown fox, it's said, jumps over the lazy dog. Then it rests. ";
          case "escaped" -> "if (x < 1) {\\n  say(\\\"no\\\");\\n} // see C:\\\\temp \\u00e9\\n";
          default -> "吾輩は猫である。名前はまだ無い。";
        };
    StringBuilder messages = new StringBuilder();
    int turn = Math.max(400, size / 20);
    while (messages.length() * (language.equals("Japanese") ? 3 : 1) < size - 300) {
      String text = sentence.repeat(1 + turn / sentence.getBytes(UTF_8).length);
      messages.append(messages.isEmpty() ? "" : ",");
      messages.append("{\"role\":\"user\",\"content\":\"").append(text).append("\"}");
    }
    return ("{\"model\":\"meta-llama/Llama-3.1-8B-Instruct\",\"messages\":["
            + messages
            + "],\"temperature\":0.7,\"top_p\":0.95,\"n\":1,\"seed\":1234567,\"max_tokens\":512,"
            + "\"stream\":true,\"stream_options\":{\"include_usage\":true},\"user\":\"u-1\"}")
        .getBytes(UTF_8);
  }

  private static int scan(byte[] body) throws InvalidJson {
    return JsonObject.scan(body, 1_000).members().size();
  }

  private static int splice(byte[] body) throws InvalidJson {
    JsonObject object = JsonObject.scan(body, 1_000);
    JsonEdit prefill = object.edit().set("kv_transfer_params", PREFILL).set("stream", false);
    prefill.remove("stream_options").remove("min_tokens");
    prefill.set("max_tokens", 1).set("max_completion_tokens", 1);
    JsonEdit decode = object.edit().set("kv_transfer_params", DECODE);
    return prefill.toBytes().length + decode.toBytes().length;
  }

  private static int parse(byte[] body) throws IOException {
    int tokens = 0;
    try (JsonParser parser = FACTORY.createParser(body)) {
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        tokens++;
      }
    }
    return tokens;
  }

  private static int tree(byte[] body) throws IOException {
    ObjectNode decode = (ObjectNode) MAPPER.readTree(body);
    ObjectNode prefill =
        MAPPER.createObjectNode().setAll(decode); // shallow, as the legs share most
    prefill.set("kv_transfer_params", MAPPER.readTree(PREFILL));
    prefill.put("stream", false).put("max_tokens", 1).put("max_completion_tokens", 1);
    prefill.remove("stream_options");
    decode.set("kv_transfer_params", MAPPER.readTree(DECODE));
    return MAPPER.writeValueAsBytes(prefill).length + MAPPER.writeValueAsBytes(decode).length;
  }

  private static void report(String body, String name, Work work, byte[] json)
      throws IOException, InvalidJson {
    int rounds = Math.max(20, 4_000_000 / json.length);
    long[] nanos = new long[60];
    long sink = 0;
    for (int sample = -60; sample < nanos.length; sample++) {
      long start = System.nanoTime();
      for (int i = 0; i < rounds; i++) {
        sink += work.run(json);
      }
      if (sample >= 0) {
        nanos[sample] = (System.nanoTime() - start) / rounds;
      }
    }
    Arrays.sort(nanos);
    double micros = nanos[nanos.length / 2] / 1_000.0;
    System.out.printf(
        Locale.ROOT,
        "%-18s %-24s median %8.2f us, best %8.2f us (%d)%n",
        body,
        name,
        micros,
        nanos[0] / 1_000.0,
        sink & 1);
  }
}
