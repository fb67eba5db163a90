package io.inferspan.pd.connector;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.inferspan.pd.json.JsonOracle;
import io.inferspan.pd.json.RandomJson;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import java.math.BigDecimal;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Sends random bodies through every connector and stage, over real sockets. Engines must receive
 * the client's body with only the changes that the specification names, and no other byte changed.
 *
 * <p>{@code -Dconnector.bodies=10000} sends that many through each.
 */
@ExtendWith(Cleanliness.class)
final class ConnectorBodiesTest {
  private static final int BODIES = Integer.getInteger("connector.bodies", 1_000);
  private static final long SEED = 20_261_122;
  private static final int DEPTH = 4;
  private static final String KV = "kv_transfer_params";
  private static final String PREFILLER = "x-prefiller-host-port";
  private static final String CHAT = "/v1/chat/completions";
  private static final String RESPONSES = "/v1/responses";
  private static final String GENERATE = "/inference/v1/generate";
  private static final List<String> PATHS = List.of(CHAT, RESPONSES, GENERATE);
  private static final String HANDED_OVER =
      "{\"do_remote_decode\":true,\"do_remote_prefill\":false,\"remote_engine_id\":null,"
          + "\"remote_block_ids\":null,\"remote_host\":null,\"remote_port\":null}";
  private static final String IMAGE =
      "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:,é\\u00e9\"}}";
  private static final String MESSAGES =
      "\"messages\":[{\"role\":\"user\",\"content\":[ %s ]}]".formatted(IMAGE);

  private final BodyEngine prefiller = new BodyEngine("{}");
  private final BodyEngine decoder = new BodyEngine("{}");
  private final BodyEngine encoder = new BodyEngine("{}");
  private boolean withImage;

  @AfterEach
  void stop() throws Exception {
    assertThat(List.of(prefiller.left(), decoder.left(), encoder.left())).containsOnly(0);
    prefiller.close();
    decoder.close();
    encoder.close();
  }

  /** Checks what the engines received for one body. */
  @FunctionalInterface
  private interface Legs {
    void check(String path, String body) throws InterruptedException;
  }

  private String toPrefiller() {
    return PREFILLER + ": " + prefiller.authority();
  }

  private SidecarRig sidecar(String... flags) {
    return SidecarRig.before(decoder.port()).with(flags).start();
  }

  /** Sends all bodies, to each path in turn. */
  private void send(List<String> paths, String headers, Legs legs, String... flags)
      throws Exception {
    try (SidecarRig sidecar = sidecar(flags);
        Wire client = Wire.to(sidecar.port())) {
      for (int i = 0; i < BODIES; i++) {
        String path = paths.get(i % paths.size());
        String body = body(i);
        prepare(i);
        String bytes = BodyEngine.bytes(body);
        client.send(
            "POST %s HTTP/1.1\r\nhost: a\r\n%s\r\ncontent-length: %d\r\n\r\n"
                    .formatted(path, headers, bytes.length())
                + bytes);
        assertThat(client.message().status()).as("number %d: %s", i, body).isEqualTo(200);
        legs.check(path, body);
      }
    }
  }

  private String body(int number) {
    String body = new RandomJson(SEED + number, DEPTH).object();
    return withImage ? withImage(body) : body;
  }

  private static String withImage(String body) {
    int end = body.lastIndexOf('}');
    String separator = JsonOracle.tree(body).isEmpty() ? "" : ",";
    return body.substring(0, end) + separator + MESSAGES + body.substring(end);
  }

  /** Answers prefill with random transfer parameters. */
  private void prepare(int number) {
    prefiller.answer("{\"usage\":{},\"%s\": %s }".formatted(KV, handedOver(number)));
  }

  private static String handedOver(int number) {
    return new RandomJson(SEED - number, DEPTH).object().strip();
  }

  private static BodyChange oneToken(BodyChange change, String path) {
    change.inOnePiece();
    return switch (path) {
      case RESPONSES -> change.set("max_output_tokens", 1);
      case GENERATE -> change.sampling("max_tokens", 1).sampling("min_tokens", 1);
      default -> change.set("max_tokens", 1).set("max_completion_tokens", 1).set("min_tokens", 1);
    };
  }

  private static BodyChange firstToken(BodyChange change, String path) {
    change.inOnePiece().set("max_tokens", 1);
    if (change.has("max_completion_tokens")) {
      change.set("max_completion_tokens", 1);
    }
    return switch (path) {
      case RESPONSES -> change.set("max_output_tokens", 1);
      case GENERATE -> change.sampling("max_tokens", 1);
      default -> change;
    };
  }

  @Test
  void nixlv2_limitsPrefillToOneToken_andPassesItsParamsToDecode() throws Exception {
    int[] number = {0};
    Legs legs =
        (path, body) -> {
          oneToken(new BodyChange(body).set(KV, JsonOracle.value(HANDED_OVER)), path)
              .assertMade(prefiller.next());
          String given = handedOver(number[0]++);
          String asked = decoder.next();
          new BodyChange(body).set(KV, JsonOracle.value(given)).assertMade(asked);
          assertThat(asked).contains(given);
        };
    send(PATHS, toPrefiller(), legs, "--kv-connector=nixlv2");
  }

  @Test
  void writeMode_changesTheSameMembers() throws Exception {
    Legs legs =
        (path, body) -> {
          String asked = prefiller.next();
          JsonNode params = JsonOracle.tree(asked).path(KV);
          assertThat(params.path("remote_host").asText()).isEqualTo("10.0.0.9");
          oneToken(new BodyChange(body).set(KV, params), path).assertMade(asked);
          String decode = decoder.next();
          new BodyChange(body).asIn(JsonOracle.tree(decode), KV).assertMade(decode);
        };
    send(PATHS, toPrefiller(), legs, "--moriio-write-mode", "--moriio-local-pod-ip=10.0.0.9");
  }

  @Test
  void parallelDispatch_changesTheSameMembers() throws Exception {
    Legs legs =
        (path, body) -> {
          String asked = prefiller.next();
          oneToken(new BodyChange(body).asIn(JsonOracle.tree(asked), KV), path).assertMade(asked);
          String decode = decoder.next();
          JsonNode params = JsonOracle.tree(decode).path(KV);
          assertThat(params.path("remote_block_ids").isArray()).isTrue();
          new BodyChange(body).set(KV, params).assertMade(decode);
        };
    send(
        PATHS,
        toPrefiller(),
        legs,
        "--moriio-write-mode",
        "--moriio-parallel-dispatch",
        "--moriio-local-pod-ip=10.0.0.9");
  }

  @Test
  void sharedStorage_limitsPrefill_andSetsTheThresholdToZero() throws Exception {
    decoder.answer("{\"choices\":[{\"finish_reason\":\"cache_threshold\"}]}");
    Legs legs =
        (path, body) -> {
          BodyChange given = new BodyChange(body);
          boolean threshold = given.has("cache_hit_threshold");
          if (threshold) {
            assertThat(decoder.next()).isEqualTo(body);
          }
          // The decoder's response is not a stream, so a stream request ignores its finish reason.
          if (!threshold || !given.get("stream").booleanValue()) {
            sharedPrefill(given, path).assertMade(prefiller.next());
            new BodyChange(body).set("cache_hit_threshold", 0).assertMade(decoder.next());
          }
        };
    send(PATHS, toPrefiller(), legs, "--kv-connector=lmcache");
  }

  private static BodyChange sharedPrefill(BodyChange change, String path) {
    change.set("max_tokens", 1).set("max_completion_tokens", 1).set("cache_hit_threshold", 0);
    return switch (path) {
      case RESPONSES -> change.set("max_output_tokens", 1);
      case GENERATE -> change.sampling("max_tokens", 1);
      default -> change;
    };
  }

  @Test
  void sglang_givesBothStagesTheSameRoom() throws Exception {
    Legs legs =
        (path, body) -> {
          String asked = prefiller.next();
          ObjectNode tree = JsonOracle.tree(asked);
          assertThat(tree.path("bootstrap_host").asText()).isEqualTo("127.0.0.1");
          assertThat(tree.path("bootstrap_room").isLong()).isTrue();
          new BodyChange(body)
              .asIn(tree, "bootstrap_host")
              .set("bootstrap_port", 8998)
              .asIn(tree, "bootstrap_room")
              .assertMade(asked);
          assertThat(decoder.next()).isEqualTo(asked);
        };
    send(PATHS, toPrefiller(), legs, "--kv-connector=sglang");
  }

  @Test
  void mooncake_limitsPrefill_andGivesBothStagesTheTransferId() throws Exception {
    try (BodyEngine bootstrap = new BodyEngine("{\"0\":{\"engine_id\":\"e0\"}}")) {
      send(
          PATHS,
          toPrefiller(),
          (path, body) -> concurrent(path, body, "do_remote_decode", "remote_engine_id"),
          "--kv-connector=mooncake",
          "--mooncake-bootstrap-port=" + bootstrap.port());
      assertThat(bootstrap.next()).isEmpty();
    }
  }

  @Test
  void offloading_limitsPrefill_andGivesBothStagesTheTransferId() throws Exception {
    send(
        PATHS,
        toPrefiller(),
        (path, body) -> concurrent(path, body, "remote_decoder", "remote_prefiller"),
        "--kv-connector=offloading");
  }

  private void concurrent(String path, String body, String ofPrefill, String ofDecode)
      throws InterruptedException {
    String asked = prefiller.next();
    assertThat(JsonOracle.tree(asked).path(KV).has(ofPrefill)).isTrue();
    firstToken(new BodyChange(body).asIn(JsonOracle.tree(asked), KV), path).assertMade(asked);
    String decode = decoder.next();
    assertThat(JsonOracle.tree(decode).path(KV).has(ofDecode)).isTrue();
    new BodyChange(body).asIn(JsonOracle.tree(decode), KV).assertMade(decode);
  }

  @Test
  void pull_addsTheSourceToDecode() throws Exception {
    Legs legs =
        (_, body) -> {
          String decode = decoder.next();
          JsonNode params = JsonOracle.tree(decode).path(KV);
          assertThat(params.fieldNames()).toIterable().containsExactly("remote_kv_source");
          new BodyChange(body).set(KV, params).assertMade(decode);
        };
    send(PATHS, "x-kv-cache-source-host-port: 127.0.0.2:9", legs, "--kv-connector=offloading");
  }

  @Test
  void decodeOnly_sendsTheClientsBody() throws Exception {
    send(PATHS, "x-nothing: 1", (_, body) -> assertThat(decoder.next()).isEqualTo(body));
  }

  @Test
  void chunkedDecode_limitsTheTokensOfEachRequest() throws Exception {
    decoder.answer(
        "{\"choices\":[{\"finish_reason\":\"stop\",\"message\":{\"content\":\"x\"}}],\"usage\":{}}");
    Legs legs =
        (_, body) -> {
          String asked = decoder.next();
          BodyChange change = new BodyChange(body);
          if (budget(change) <= 4) {
            assertThat(asked).isEqualTo(body);
            return;
          }
          change.inOnePiece().set("max_tokens", 4).set("max_completion_tokens", 4);
          if (change.has("min_tokens")) {
            JsonNode least = JsonOracle.tree(asked).path("min_tokens");
            assertThat(least.isIntegralNumber()).isTrue();
            assertThat(least.longValue()).isLessThanOrEqualTo(4);
            change.set("min_tokens", least);
          }
          change.assertMade(asked);
        };
    send(List.of(CHAT), "x-nothing: 1", legs, "--decode-chunk-size=4");
  }

  /** Returns the client's token limit; a value that is not a valid number counts as none. */
  private static long budget(BodyChange given) {
    JsonNode newer = given.get("max_completion_tokens");
    JsonNode asked = newer.isMissingNode() || newer.isNull() ? given.get("max_tokens") : newer;
    if (asked.isMissingNode() || asked.isNull()) {
      return Long.MAX_VALUE;
    }
    BigDecimal number = asked.isNumber() ? asked.decimalValue() : BigDecimal.ZERO;
    boolean counts = asked.canConvertToLong() && asked.canConvertToExactIntegral();
    return counts ? number.longValue() : 0;
  }

  @Test
  void encode_sendsOneItem_andOtherStagesGetNoThreshold() throws Exception {
    withImage = true;
    Legs legs =
        (path, body) -> {
          BodyChange item =
              new BodyChange(body)
                  .inOnePiece()
                  .set("max_tokens", 1)
                  .set(
                      "messages",
                      JsonOracle.value("[{\"role\":\"user\",\"content\":[" + IMAGE + "]}]"));
          if (item.has("max_completion_tokens")) {
            item.set("max_completion_tokens", 1);
          }
          String asked = encoder.next();
          item.assertMade(asked);
          assertThat(asked).contains(IMAGE);
          BodyChange prefill = new BodyChange(body).set("cache_hit_threshold", 0);
          oneToken(prefill.set(KV, JsonOracle.value(HANDED_OVER)), path)
              .assertMade(prefiller.next());
          String decode = decoder.next();
          new BodyChange(body)
              .set("cache_hit_threshold", 0)
              .asIn(JsonOracle.tree(decode), KV)
              .assertMade(decode);
        };
    send(
        PATHS,
        toPrefiller() + "\r\nx-encoder-hosts-ports: " + encoder.authority(),
        legs,
        "--ec-connector=ec-example");
  }
}
