package io.inferspan.pd.json;

import io.inferspan.pd.json.JsonObject.Member;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Collects changes to an object, and writes a copy with these changes. All other bytes stay the
 * same.
 *
 * <p>If a key occurs more than once, setting it changes the last occurrence and drops the others;
 * removing it drops all. An absent member is appended. The last change of a member wins.
 */
public final class JsonEdit {
  /**
   * The change of one member: a new value, a value in pieces, or the edit of a nested object. If
   * all are null, the member is removed.
   */
  private record Change(
      @Nullable JsonValue value, @Nullable JsonPieces pieces, @Nullable JsonEdit nested) {
    boolean removes() {
      return value == null && pieces == null && nested == null;
    }
  }

  private static final Change DROP = new Change(null, null, null);

  private final JsonObject object;
  private final Map<String, Change> changes = new LinkedHashMap<>();

  JsonEdit(JsonObject object) {
    this.object = object;
  }

  /** Sets a member to JSON that is known to be one valid value. */
  public JsonEdit set(String name, byte[] rawJson) {
    return set(name, JsonValue.trusted(rawJson));
  }

  /**
   * Sets a member to JSON that is known to be one valid value; a string is set by {@link #setText}.
   */
  public JsonEdit set(String name, String rawJson) {
    return set(name, rawJson.getBytes(StandardCharsets.UTF_8));
  }

  /** Sets a member to pieces that are known to be one valid value; they are not copied. */
  public JsonEdit set(String name, JsonPieces pieces) {
    return change(name, new Change(null, pieces, null));
  }

  /** Sets a member to an existing value, byte for byte. */
  public JsonEdit set(String name, JsonValue other) {
    return change(name, new Change(other, null, null));
  }

  public JsonEdit set(String name, long value) {
    return set(name, Long.toString(value));
  }

  public JsonEdit set(String name, boolean value) {
    return set(name, Boolean.toString(value));
  }

  public JsonEdit setText(String name, String text) {
    return set(name, new JsonWriter().text(text).toBytes());
  }

  public JsonEdit remove(String name) {
    return change(name, DROP);
  }

  /**
   * Returns the edit of a nested object, which is part of this edit; the object is created when a
   * member is set in it.
   */
  public JsonEdit within(String name) {
    Change change = changes.get(name);
    if (change != null && change.nested != null) {
      return change.nested;
    }
    JsonValue current = change == null ? object.value(name) : change.value;
    if (change != null && change.pieces != null) {
      current = JsonValue.trusted(change.pieces.toBytes());
    }
    JsonObject existing = current == null ? null : current.object();
    JsonEdit nested = new JsonEdit(existing == null ? JsonObject.EMPTY : existing);
    change(name, new Change(null, null, nested));
    return nested;
  }

  private JsonEdit change(String name, Change change) {
    changes.put(name, change);
    return this;
  }

  public byte[] toBytes() {
    return pieces().toBytes();
  }

  /** Returns the changed object; only the changes are copied. */
  public JsonPieces pieces() {
    JsonPieces pieces = new JsonPieces();
    render(pieces);
    return pieces;
  }

  private void render(JsonPieces out) {
    @Nullable Change[] changed = new Change[object.members().size()];
    List<Map.Entry<String, Change>> absent = new ArrayList<>();
    for (Map.Entry<String, Change> entry : changes.entrySet()) {
      if (!isVoid(entry.getValue()) && !place(entry.getKey(), entry.getValue(), changed)) {
        absent.add(entry);
      }
    }
    int dropped = 0;
    int copied = object.from();
    for (int i = 0; i < changed.length; i++) {
      Member member = object.members().get(i);
      if (changed[i] != null && changed[i].removes()) {
        // Also removes a comma: the one before the member or, if no member is left before it, the
        // one after it.
        boolean leads = i == dropped++;
        out.add(object.bytes(), copied, leads ? member.key().from() : member.comma());
        copied = leads ? object.startAfter(member) : member.value().to();
      } else if (changed[i] != null) {
        out.add(object.bytes(), copied, member.value().from());
        renderValue(changed[i], out);
        copied = member.value().to();
      }
    }
    out.add(object.bytes(), copied, object.insertAt());
    append(absent, changed.length > dropped, out);
    out.add(object.bytes(), object.insertAt(), object.to());
  }

  /**
   * Applies a change to the last member with a name, and drops the others; returns false if there
   * is none.
   */
  private boolean place(String name, Change change, @Nullable Change[] changed) {
    boolean any = false;
    for (int i = changed.length - 1; i >= 0; i--) {
      if (object.members().get(i).isNamed(name)) {
        changed[i] = any ? DROP : change;
        any = true;
      }
    }
    return any;
  }

  private static void append(
      List<Map.Entry<String, Change>> absent, boolean hasMembers, JsonPieces out) {
    boolean needsComma = hasMembers;
    for (Map.Entry<String, Change> entry : absent) {
      if (!entry.getValue().removes()) {
        out.raw(needsComma ? "," : "").raw(new JsonWriter().name(entry.getKey()).toBytes());
        renderValue(entry.getValue(), out);
        needsComma = true;
      }
    }
  }

  private static void renderValue(Change change, JsonPieces out) {
    if (change.nested != null) {
      change.nested.render(out);
    } else if (change.pieces != null) {
      out.add(change.pieces);
    } else if (change.value != null) {
      out.value(change.value);
    }
  }

  /**
   * Returns whether a change has no effect, because it only removes members from an absent object.
   */
  private static boolean isVoid(Change change) {
    JsonEdit nested = change.nested;
    return nested != null
        && nested.object == JsonObject.EMPTY
        && nested.changes.values().stream().allMatch(Change::removes);
  }
}
