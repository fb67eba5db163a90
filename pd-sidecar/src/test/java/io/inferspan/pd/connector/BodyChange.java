package io.inferspan.pd.connector;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.inferspan.pd.json.JsonOracle;
import java.util.HashSet;
import java.util.Set;

/**
 * The expected changes to the client's body for prefill or decode, applied to Jackson's tree. They
 * follow the wire specification and do not use the sidecar's code.
 */
final class BodyChange {
  private final String body;
  private final ObjectNode expected;
  private final Set<String> touched = new HashSet<>();

  BodyChange(String body) {
    this.body = body;
    this.expected = JsonOracle.tree(body);
  }

  /** Returns whether the client sent this member. */
  boolean has(String name) {
    return expected.has(name);
  }

  JsonNode get(String name) {
    return expected.path(name);
  }

  BodyChange set(String name, JsonNode value) {
    touched.add(name);
    expected.set(name, value);
    return this;
  }

  BodyChange set(String name, int value) {
    return set(name, IntNode.valueOf(value));
  }

  /** Expects a member with the received value, for values that differ between requests. */
  BodyChange asIn(ObjectNode asked, String name) {
    JsonNode found = asked.get(name);
    assertThat(found).as(name).isNotNull();
    return set(name, found);
  }

  BodyChange remove(String name) {
    touched.add(name);
    expected.remove(name);
    return this;
  }

  BodyChange inOnePiece() {
    return set("stream", BooleanNode.FALSE).remove("stream_options");
  }

  /** Sets a member of the sampling parameters, which are created if missing. */
  BodyChange sampling(String name, int value) {
    touched.add("sampling_params");
    ObjectNode params =
        expected.get("sampling_params") instanceof ObjectNode given
            ? given
            : expected.putObject("sampling_params");
    params.put(name, value);
    return this;
  }

  /** Checks that an engine received the expected tree, and unchanged bytes elsewhere. */
  void assertMade(String asked) {
    assertThat(JsonOracle.tree(asked).equals(expected)).as("%s%nbecame%n%s", body, asked).isTrue();
    assertThat(JsonOracle.otherMembers(asked, touched))
        .as(body)
        .isEqualTo(JsonOracle.otherMembers(body, touched));
    assertThat(asked)
        .startsWith(body.substring(0, body.indexOf('{') + 1))
        .endsWith(body.substring(body.lastIndexOf('}')));
  }
}
