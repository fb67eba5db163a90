package io.inferspan.pd.allow;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * The relevant state of a pod or a pool; a pod has no selector, a pool no addresses.
 *
 * @param selector labels and their values, from any API version
 * @param over whether a pod has terminated, so that its address may have been reassigned
 */
record ObjectState(String name, Set<String> addresses, Map<String, String> selector, boolean over) {

  static ObjectState of(JsonObject object) {
    JsonObject selector = part(part(object, "spec"), "selector");
    Map<String, String> labels = new HashMap<>();
    // The selector of v1 is one level deeper than that of v1alpha2.
    addTexts(selector, labels);
    addTexts(part(selector, "matchLabels"), labels);
    JsonObject status = part(object, "status");
    String phase = text(status, "phase");
    return new ObjectState(
        text(part(object, "metadata"), "name"),
        addresses(status),
        labels,
        phase.equals("Succeeded") || phase.equals("Failed"));
  }

  private static void addTexts(JsonObject json, Map<String, String> texts) {
    for (Map.Entry<String, Object> entry : json) {
      if (entry.getValue() instanceof String text) {
        texts.put(entry.getKey(), text);
      }
    }
  }

  private static Set<String> addresses(JsonObject status) {
    Set<String> addresses = new LinkedHashSet<>();
    addresses.add(text(status, "podIP"));
    if (status.getValue("podIPs") instanceof JsonArray list) {
      for (Object item : list) {
        addresses.add(item instanceof JsonObject address ? text(address, "ip") : "");
      }
    }
    addresses.remove("");
    return addresses;
  }

  /** Returns a nested object; an empty one if there is none. */
  static JsonObject part(JsonObject json, String name) {
    return json.getValue(name) instanceof JsonObject part ? part : new JsonObject();
  }

  /** Returns a text; an empty one if there is none. */
  static String text(JsonObject json, String name) {
    return json.getValue(name) instanceof String text ? text : "";
  }
}
