package io.inferspan.pd.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Compares edits of random bodies with the same changes of a Jackson tree. */
class JsonEditPropertyTest {
  private static final long SEED = 20_260_801;
  private static final String SAMPLING = "sampling_params";
  private static final String KV = "kv_transfer_params";
  private static final String HAND_OVER = "{\"do_remote_decode\":true,\"remote_host\":null}";

  /** A change that can be applied to the bytes and to a Jackson tree. */
  private sealed interface Wish {
    record Put(String json) implements Wish {}

    record Within(Map<String, Wish> wishes) implements Wish {}

    record Remove() implements Wish {}
  }

  private static final Wish ONE = put("1");
  private static final Wish NO = put("false");
  private static final Wish REMOVE = new Wish.Remove();

  private static Wish put(String json) {
    return new Wish.Put(json);
  }

  private static Wish within(Map<String, Wish> wishes) {
    return new Wish.Within(wishes);
  }

  /** The connectors' edits of the bodies for prefill and decode. */
  private static final List<Map<String, Wish>> EDITS =
      List.of(
          Map.of(
              KV,
              put(HAND_OVER),
              "stream",
              NO,
              "stream_options",
              REMOVE,
              "max_tokens",
              ONE,
              "max_completion_tokens",
              ONE,
              "min_tokens",
              REMOVE),
          Map.of(
              KV,
              put(HAND_OVER),
              "stream",
              NO,
              "stream_options",
              REMOVE,
              "max_output_tokens",
              ONE,
              "store",
              NO),
          Map.of(
              KV,
              put(HAND_OVER),
              "stream",
              NO,
              "stream_options",
              REMOVE,
              SAMPLING,
              within(Map.of("max_tokens", ONE, "min_tokens", REMOVE))),
          Map.of(KV, put("{ \"remote_block_ids\" : [1,2,3], \"x\":1e400}")),
          Map.of(KV, put("null"), SAMPLING, within(Map.of("max_tokens", put("17")))),
          Map.of(
              "bootstrap_host",
              put("\"10.0.0.1\""),
              "bootstrap_port",
              put("8998"),
              "bootstrap_room",
              put("42")),
          Map.of("cache_hit_threshold", put("0"), "max_tokens", ONE, "max_completion_tokens", ONE),
          Map.of("messages", put("[{\"role\":\"user\"}]"), "stream", REMOVE, "usage", REMOVE),
          Map.of(SAMPLING, within(Map.of("max_tokens", REMOVE, "stream", REMOVE))),
          Map.of(
              "usage",
              within(Map.of("store", within(Map.of("max_tokens", put("7"))))),
              "stream",
              NO));

  @Test
  void edits_changeOnlyTheNamedMembers() throws InvalidJson {
    for (int i = 0; i < 10_000; i++) {
      String body = new RandomJson(SEED + i, 4).object();
      for (int edit = 0; edit < 3; edit++) {
        check(body, EDITS.get((i + edit) % EDITS.size()));
      }
    }
  }

  @Test
  void editsOfLargeBodies_changeOnlyTheNamedMembers() throws InvalidJson {
    Random random = new Random(SEED);
    for (int size : new int[] {100_000, 1_000_000, 5_000_000}) {
      String start = new RandomJson(random.nextLong(), 4).object().strip();
      String filler = "é\\u00e9 text ".repeat(size / 16);
      String separator = start.matches("\\{\\s*}") ? "" : ",";
      check("{\"filler\":\"" + filler + "\"" + separator + start.substring(1), EDITS.get(2));
    }
  }

  @Test
  void removingEverything_leavesAnEmptyObject() throws InvalidJson {
    for (int i = 0; i < 1_000; i++) {
      String body = new RandomJson(SEED - i, 4).object();
      JsonObject object = scan(body);
      JsonEdit edit = object.edit();
      object.toMap().keySet().forEach(edit::remove);
      assertThat(new String(edit.toBytes(), UTF_8)).matches("\\s*\\{\\s*}\\s*");
    }
  }

  @Test
  void everyMember_isFoundWithItsLastValue() throws InvalidJson {
    for (int i = 0; i < 1_000; i++) {
      String body = new RandomJson(SEED + i, 4).object();
      ObjectNode tree = JsonOracle.tree(body);
      JsonObject object = scan(body);
      assertThat(object.toMap().keySet()).hasSize(tree.size());
      for (Map.Entry<String, JsonNode> field : tree.properties()) {
        JsonValue value = Objects.requireNonNull(object.value(field.getKey()));
        assertThat(JsonOracle.value(new String(value.copy(), UTF_8))).isEqualTo(field.getValue());
        assertThat(value.text()).isEqualTo(field.getValue().textValue());
        assertThat(value.isTrue()).isEqualTo(field.getValue().booleanValue());
      }
    }
  }

  private static void check(String body, Map<String, Wish> wishes) throws InvalidJson {
    JsonEdit edit = scan(body).edit();
    wishes.forEach((name, wish) -> apply(wish, name, edit));
    String result = new String(edit.toBytes(), UTF_8);

    ObjectNode expected = JsonOracle.tree(body);
    wishes.forEach((name, wish) -> apply(wish, name, expected));
    ObjectNode actual = JsonOracle.tree(result);
    assertThat(actual.equals(expected)).as(body).isTrue();
    assertOthersUntouched(body, result, wishes);
    assertThat(edit.pieces().length()).isEqualTo(result.getBytes(UTF_8).length);
    assertThat(written(edit)).isEqualTo(result);
  }

  private static void assertOthersUntouched(String body, String result, Map<String, Wish> wishes) {
    List<String> others = JsonOracle.otherMembers(body, wishes.keySet());
    assertThat(JsonOracle.otherMembers(result, wishes.keySet()).equals(others)).as(body).isTrue();
    String before = body.substring(0, body.indexOf('{') + 1);
    String after = body.substring(body.lastIndexOf('}'));
    assertThat(result.startsWith(before) && result.endsWith(after)).as(body).isTrue();
    wishes.forEach(
        (name, wish) -> {
          String original = raw(body, name);
          String changed = raw(result, name);
          if (wish instanceof Wish.Within(var nested) && original != null && changed != null) {
            assertOthersUntouched(original, changed, nested);
          }
        });
  }

  /** Returns the text of a nested object, or null if there is none. */
  private static @Nullable String raw(String body, String name) {
    try {
      JsonValue value = scan(body).value(name);
      return value != null && value.isObject() ? new String(value.copy(), UTF_8) : null;
    } catch (InvalidJson e) {
      throw new AssertionError(e);
    }
  }

  private static void apply(Wish wish, String name, JsonEdit edit) {
    switch (wish) {
      case Wish.Put(String json) -> edit.set(name, json);
      case Wish.Remove _ -> edit.remove(name);
      case Wish.Within(var nested) -> {
        JsonEdit inner = edit.within(name);
        nested.forEach((innerName, innerWish) -> apply(innerWish, innerName, inner));
      }
    }
  }

  private static void apply(Wish wish, String name, ObjectNode tree) {
    switch (wish) {
      case Wish.Put(String json) -> tree.set(name, JsonOracle.value(json));
      case Wish.Remove _ -> tree.remove(name);
      case Wish.Within(var nested) -> {
        if (tree.get(name) instanceof ObjectNode inner) {
          nested.forEach((innerName, innerWish) -> apply(innerWish, innerName, inner));
        } else if (!nested.values().stream().allMatch(REMOVE::equals)) {
          ObjectNode inner = tree.putObject(name);
          nested.forEach((innerName, innerWish) -> apply(innerWish, innerName, inner));
        }
      }
    }
  }

  private static String written(JsonEdit edit) {
    ByteBuf out = Unpooled.buffer(16);
    edit.pieces().reader().read(Integer.MAX_VALUE, out);
    return out.toString(UTF_8);
  }

  private static JsonObject scan(String body) throws InvalidJson {
    return JsonObject.scan(body.getBytes(UTF_8), 10_000);
  }
}
