package io.inferspan.samples.backends;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/** A trace from Zipkin's query API. */
record ZipkinSpans(JsonNode spans) {

  static ZipkinSpans parse(String json) {
    try {
      return new ZipkinSpans(new ObjectMapper().readTree(json));
    } catch (JsonProcessingException e) {
      throw new AssertionError("not JSON: " + json, e);
    }
  }

  int size() {
    return spans.size();
  }

  private JsonNode span(String id) {
    for (JsonNode span : spans) {
      if (span.path("id").asText().equals(id)) {
        return span;
      }
    }
    throw new AssertionError("no span has the id " + id + " in " + spans);
  }

  /** Asserts that ids, parents, names, kinds and attributes are those that were sent. */
  void assertAre(SentTrace sent) {
    assertThat(size()).isEqualTo(2);
    JsonNode request = span(sent.request().getSpanId());
    JsonNode attempt = span(sent.attempt().getSpanId());

    assertThat(request.path("traceId").asText()).isEqualTo(sent.traceId());
    assertThat(request.path("parentId").asText("")).isEmpty();
    assertThat(request.path("name").asText()).isEqualTo("gateway.request");
    assertThat(request.path("kind").asText()).isEqualTo("SERVER");
    assertThat(request.path("localEndpoint").path("serviceName").asText())
        .isEqualTo(SentTrace.SERVICE);
    assertThat(tag(request, "gen_ai.request.model")).isEqualTo(SentTrace.MODEL);

    assertThat(attempt.path("traceId").asText()).isEqualTo(sent.traceId());
    assertThat(attempt.path("parentId").asText()).isEqualTo(sent.request().getSpanId());
    assertThat(attempt.path("name").asText()).isEqualTo("gateway.attempt");
    assertThat(attempt.path("kind").asText()).isEqualTo("CLIENT");
    assertThat(tag(attempt, "http.response.status_code")).isEqualTo("503");
    assertThat(tag(attempt, "error.type")).isEqualTo("503");
    assertThat(attempt.path("duration").asLong()).isPositive();
  }

  private static String tag(JsonNode span, String name) {
    return span.path("tags").path(name).asText();
  }
}
