package io.inferspan.pd.json;

import org.jspecify.annotations.Nullable;

/**
 * The result of scanning bytes for an object.
 *
 * @param object null if there is none
 * @param fault what is wrong with the bytes; empty if they are an object
 */
public record JsonScan(@Nullable JsonObject object, String fault) {
  public static JsonScan of(byte[] json, int maxDepth) {
    return of(json, 0, json.length, maxDepth);
  }

  static JsonScan of(byte[] json, int from, int to, int maxDepth) {
    try {
      return new JsonScan(JsonObject.scan(json, from, to, maxDepth), "");
    } catch (InvalidJson e) {
      return new JsonScan(null, String.valueOf(e.getMessage()));
    }
  }
}
