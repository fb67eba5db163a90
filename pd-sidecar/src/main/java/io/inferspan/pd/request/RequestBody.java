package io.inferspan.pd.request;

import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.json.JsonValue;
import io.inferspan.pd.memory.HeldBody;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The body of a request, from which the bodies of its calls are made; released when decode has been
 * sent.
 */
public final class RequestBody {
  private final HeldBody held;
  private final Map<String, byte[]> presets = new LinkedHashMap<>(0);
  private @Nullable JsonObject json;
  private @Nullable JsonPieces original;

  /**
   * Creates a scanned body.
   *
   * @param held the holder of the bytes of {@code json}
   */
  RequestBody(HeldBody held, JsonObject json) {
    this.held = held;
    this.json = json;
    held.whenFree(this::forget);
  }

  private void forget() {
    json = null;
    original = null;
  }

  public JsonObject json() {
    JsonObject scanned = json;
    if (scanned == null) {
      throw new IllegalStateException("the body was released");
    }
    return scanned;
  }

  public HeldBody held() {
    return held;
  }

  /** Sets a member in all bodies that are made from now on. */
  public void preset(String member, byte[] value) {
    presets.put(member, value);
    original = null;
  }

  /** Returns whether the client, or an earlier stage, has set a member. */
  public boolean has(String member) {
    return presets.containsKey(member) || json().has(member);
  }

  public boolean changed() {
    return !presets.isEmpty();
  }

  public JsonEdit edit() {
    JsonEdit edit = json().edit();
    presets.forEach(edit::set);
    return edit;
  }

  /** Returns the client's body with only the members that earlier stages have set. */
  public JsonPieces original() {
    JsonPieces pieces = original == null ? edit().pieces() : original;
    original = pieces;
    return pieces;
  }

  public boolean streaming() {
    JsonValue stream = json().value(BodyMembers.STREAM);
    return stream != null && stream.isTrue();
  }
}
