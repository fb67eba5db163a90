package io.inferspan.pd.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonEditTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{ 'a':1 , 'x':2 }          | { 'x':2 }",
        "{ 'x':1 , 'a':2 }          | { 'x':1  }",
        "{ 'x':1 , 'a':2 , 'y':3 }  | { 'x':1  , 'y':3 }",
        "{ 'a':1 , 'b':2 , 'x':3 }  | { 'x':3 }",
        "{ 'x':1 , 'a':2 , 'b':3 }  | { 'x':1   }",
        "{ 'a':1 , 'x':2 , 'b':3 }  | { 'x':2  }",
        "{ 'a':1 , 'b':2 }          | {  }",
        "{'a':1}                    | {}",
        "{'a':1,'a':2,'x':3,'a':4}  | {'x':3}",
        "{}                         | {}",
      })
  void remove_removesTheRightComma(String before, String after) throws InvalidJson {
    assertThat(edited(before, edit -> edit.remove("a").remove("b"))).isEqualTo(after);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{}                        | {'a':7}",
        "{ }                       | {'a':7 }",
        "{ 'x' : 1 }               | { 'x' : 1,'a':7 }",
        "{ 'a' : 1 , 'x' : 2 }     | { 'a' : 7 , 'x' : 2 }",
        "{'a':1,'x':2,'a':[3,{}]}  | {'x':2,'a':7}",
      })
  void set_replacesTheLastOrAppends(String before, String after) throws InvalidJson {
    assertThat(edited(before, edit -> edit.set("a", 7))).isEqualTo(after);
  }

  @Test
  void addedMember_hasNoComma_ifAllOthersAreRemoved() throws InvalidJson {
    assertThat(edited("{'b':1}", edit -> edit.remove("b").set("a", true))).isEqualTo("{'a':true}");
  }

  @Test
  void missingNestedObjects_areCreated() throws InvalidJson {
    for (String before : new String[] {"{}", "{'a':null}", "{'a':5}", "{'a':[]}"}) {
      assertThat(edited(before, edit -> within(edit, nested -> nested.set("b", 1))))
          .isEqualTo("{'a':{'b':1}}");
    }
  }

  @Test
  void nestedObjects_keepOtherMembers() throws InvalidJson {
    assertThat(
            edited(
                "{'a': { 'x':1e5, 'b':2 } }", edit -> within(edit, nested -> nested.set("b", 1))))
        .isEqualTo("{'a': { 'x':1e5, 'b':1 } }");
  }

  @Test
  void removeInAMissingNestedObject_createsNone() throws InvalidJson {
    for (String before : new String[] {"{}", "{ 'a':null}", "{'x':1}"}) {
      assertThat(edited(before, edit -> within(edit, nested -> nested.remove("b"))))
          .isEqualTo(before);
    }
  }

  @Test
  void lastChange_counts() throws InvalidJson {
    assertThat(edited("{'a':1}", edit -> edit.remove("a").set("a", 2))).isEqualTo("{'a':2}");
    assertThat(edited("{'a':1}", edit -> edit.set("a", 2).remove("a"))).isEqualTo("{}");
    assertThat(
            edited(
                "{'a':{'c':1}}",
                edit -> within(within(edit, e -> e.set("b", 2)), e -> e.remove("c"))))
        .isEqualTo("{'a':{'b':2}}");
    assertThat(edited("{'a':{'c':1}}", edit -> within(edit.remove("a"), e -> e.set("b", 2))))
        .isEqualTo("{'a':{'b':2}}");
    assertThat(edited("{}", edit -> within(edit.set("a", "{\"c\":1}"), e -> e.set("b", 2))))
        .isEqualTo("{'a':{'c':1,'b':2}}");
  }

  @Test
  void existingValues_areCopiedByteForByte() throws InvalidJson {
    JsonValue other =
        Objects.requireNonNull(scan("{'b':{ 'n':1.50e400,'s':'\\u00e9' }}").value("b"));
    assertThat(edited("{'a':0}", edit -> edit.set("a", other)))
        .isEqualTo("{'a':{ 'n':1.50e400,'s':'\\u00e9' }}");
  }

  @Test
  void oneScan_servesBothStages() throws InvalidJson {
    JsonObject body = scan("{'a':1,'b':2}");
    JsonEdit prefill = body.edit().remove("a");
    JsonEdit decode = body.edit().set("b", 3);
    assertThat(text(prefill)).isEqualTo("{'b':2}");
    assertThat(text(decode)).isEqualTo("{'a':1,'b':3}");
  }

  @Test
  void textsAndNames_areEscaped() throws InvalidJson {
    JsonEdit edit = JsonObject.scan(new byte[] {'{', '}'}, 1).edit();
    edit.setText("\"k\\\n", "v\u0001é\ud83d\ude00\ud800");
    assertThat(edit.toBytes())
        .asString(UTF_8)
        .isEqualTo("{\"\\\"k\\\\\\u000a\":\"v\\u0001é\\ud83d\\ude00\\ud800\"}");
  }

  @Test
  void messages_canBeExtended() throws InvalidJson {
    for (String before : new String[] {"[]", "[ {'role':'user'} ,1]"}) {
      JsonObject body = scan("{'messages':" + before + "}");
      JsonPieces grown = new JsonPieces().raw("[");
      boolean any = grown.elements(Objects.requireNonNull(body.value("messages")), null);
      byte[] last =
          new JsonWriter()
              .beginObject()
              .name("role")
              .text("assistant")
              .name("n")
              .raw("null")
              .endObject()
              .toBytes();
      grown.raw(any ? "," : "").raw(last).raw("]");
      assertThat(text(body.edit().set("messages", grown)))
          .isEqualTo(
              before.equals("[]")
                  ? "{'messages':[{'role':'assistant','n':null}]}"
                  : "{'messages':[ {'role':'user'} ,1,{'role':'assistant','n':null}]}");
    }
  }

  @Test
  void writtenObjects_haveCommas() {
    JsonWriter writer = new JsonWriter().beginObject().member("a", true).name("b").beginArray();
    writer.raw("1").raw("-2").text("").beginArray().endArray().raw("{}").endArray();
    writer.name("c").beginObject().endObject().member("d", null).endObject();
    assertThat(writer.toBytes())
        .asString(UTF_8)
        .isEqualTo("{\"a\":true,\"b\":[1,-2,\"\",[],{}],\"c\":{},\"d\":null}");
  }

  private static JsonEdit within(JsonEdit edit, Consumer<JsonEdit> change) {
    change.accept(edit.within("a"));
    return edit;
  }

  private static String edited(String json, UnaryOperator<JsonEdit> change) throws InvalidJson {
    return text(change.apply(scan(json).edit()));
  }

  private static String text(JsonEdit edit) {
    return new String(edit.toBytes(), UTF_8).replace('"', '\'');
  }

  private static JsonObject scan(String json) throws InvalidJson {
    return JsonObject.scan(json.replace('\'', '"').getBytes(UTF_8), 64);
  }
}
