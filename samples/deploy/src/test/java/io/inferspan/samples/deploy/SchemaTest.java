package io.inferspan.samples.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Checks the objects against the schema of the Kubernetes API, from its Java client. */
class SchemaTest {

  private static final String MODELS = "io.kubernetes.client.openapi.models.V1";

  @Test
  void everyObject_isValid() throws Exception {
    List<Yaml> objects = Manifests.read().objects();

    assertThat(objects).isNotEmpty();
    for (Yaml object : objects) {
      validate(object);
    }
  }

  @Test
  void unknownAndMissingFields_areFound() {
    assertThatThrownBy(() -> validate(service(Map.of("prots", List.of()))))
        .hasMessageContaining("`prots`");
    assertThatThrownBy(() -> validate(service(Map.of("ports", List.of(Map.of("name", "http"))))))
        .hasMessageContaining("`port`");
    assertThatThrownBy(() -> validate(service(Map.of("ports", "http"))))
        .hasMessageContaining("JsonArray");
  }

  private static Yaml service(Map<String, Object> spec) {
    return new Yaml("test", Map.of("apiVersion", "v1", "kind", "Service", "spec", spec));
  }

  private static void validate(Yaml object) throws IOException, ReflectiveOperationException {
    JsonElement json = new Gson().toJsonTree(object.map());
    try {
      Class.forName(MODELS + object.at("kind").text())
          .getMethod("validateJsonElement", JsonElement.class)
          .invoke(null, json);
    } catch (InvocationTargetException e) {
      throw new AssertionError(object.where() + ": " + e.getCause(), e);
    }
  }
}
