package io.inferspan.pd.json;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A validated JSON object in its original bytes, with the positions of its members.
 *
 * <p>Immutable as long as the bytes are not changed; any number of {@linkplain #edit() edits} may
 * start from it.
 */
public final class JsonObject {
  /**
   * The maximum number of members. It bounds memory, because the stored positions of a short member
   * take many times as many bytes as the member.
   */
  static final int MAX_MEMBERS = 1 << 16;

  /** An object without members. */
  static final JsonObject EMPTY = new JsonObject(new byte[] {'{', '}'}, 0, 2);

  private static final byte[] MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

  private final byte[] json;
  private final List<Member> members = new ArrayList<>();

  private final int from;
  private final int to;
  private int insertAt;

  /**
   * A member. Other members of the object may have the same key.
   *
   * @param comma the position of the comma before it; for the first member, of the opening brace
   * @param escaped the decoded name if it contains escapes, else null
   */
  record Member(int comma, JsonValue key, @Nullable String escaped, JsonValue value) {
    boolean isNamed(String name) {
      return escaped == null ? key.isText(name) : escaped.equals(name);
    }
  }

  private JsonObject(byte[] json, int from, int to) {
    this.json = json;
    this.from = from;
    this.to = to;
    this.insertAt = from + 1;
  }

  /**
   * Reads an object that fills the given bytes, apart from space around it.
   *
   * @throws InvalidJson if the bytes are anything else, or if containers nest deeper than {@code
   *     maxDepth}
   */
  public static JsonObject scan(byte[] json, int from, int to, int maxDepth) throws InvalidJson {
    JsonScanner scanner = new JsonScanner(json, to, maxDepth);
    int start = scanner.skipSpace(from);
    if (scanner.peek(start) != '{') {
      boolean isMark = Arrays.equals(json, from, Math.min(from + 3, to), MARK, 0, MARK.length);
      throw new InvalidJson(isMark ? "it begins with a byte order mark" : "not an object");
    }
    JsonObject object = new JsonObject(json, from, to);
    int end = object.scan(scanner, start);
    if (end != to) {
      throw new InvalidJson("unexpected content after the object at offset " + end);
    }
    return object;
  }

  static JsonObject scan(byte[] json, int maxDepth) throws InvalidJson {
    return scan(json, 0, json.length, maxDepth);
  }

  private int scan(JsonScanner scanner, int start) throws InvalidJson {
    insertAt = start + 1;
    int at = scanner.skipSpace(insertAt);
    if (scanner.peek(at) != '}') {
      at = scanMember(scanner, start, at);
      while (scanner.peek(at) == ',') {
        at = scanMember(scanner, at, scanner.skipSpace(at + 1));
      }
    }
    return scanner.skipMark(at, '}');
  }

  private int scanMember(JsonScanner scanner, int comma, int key) throws InvalidJson {
    if (members.size() == MAX_MEMBERS) {
      throw new InvalidJson("more than " + MAX_MEMBERS + " members");
    }
    int keyEnd = scanner.skipString(key);
    int value = scanner.skipMark(scanner.skipSpace(keyEnd), ':');
    insertAt = scanner.skipValue(value, 1);
    JsonValue name = new JsonValue(json, key, keyEnd);
    String escaped = name.isEscaped() ? name.decoded() : null;
    members.add(new Member(comma, name, escaped, new JsonValue(json, value, insertAt)));
    return scanner.skipSpace(insertAt);
  }

  public boolean has(String name) {
    return last(name) != null;
  }

  /**
   * Returns a member's value, the last one if the key occurs more than once; null if it is absent.
   */
  public @Nullable JsonValue value(String name) {
    Member last = last(name);
    return last == null ? null : last.value();
  }

  /**
   * Returns the value at a path, such as {@code at("choices", "0", "message", "content")}; null if
   * there is none.
   */
  public @Nullable JsonValue at(String first, String... path) {
    JsonValue value = value(first);
    for (int i = 0; i < path.length && value != null; i++) {
      value = step(value, path[i]);
    }
    return value;
  }

  /** Returns the integer at a path; {@code orElse} if there is none. */
  public long longAt(long orElse, String first, String... path) {
    JsonValue value = at(first, path);
    return value == null ? orElse : value.longValue(orElse);
  }

  private static @Nullable JsonValue step(JsonValue value, String step) {
    boolean isIndex = !step.isEmpty() && step.chars().allMatch(Character::isDigit);
    return isIndex ? value.element(Integer.parseInt(step)) : value.member(step);
  }

  /** Returns the members by name; for equal names, the last value. */
  public Map<String, JsonValue> toMap() {
    Map<String, JsonValue> map = new LinkedHashMap<>();
    members.forEach(member -> map.put(member.key().decoded(), member.value()));
    return map;
  }

  /** Starts an edit of this object; the object itself does not change. */
  public JsonEdit edit() {
    return new JsonEdit(this);
  }

  @Nullable Member last(String name) {
    for (int i = members.size() - 1; i >= 0; i--) {
      if (members.get(i).isNamed(name)) {
        return members.get(i);
      }
    }
    return null;
  }

  List<Member> members() {
    return members;
  }

  /** Returns the start of the next member; for the last member, the end of its value. */
  int startAfter(Member member) {
    JsonScanner scanner = new JsonScanner(json, to, 0);
    int end = member.value().to();
    int comma = scanner.skipSpace(end);
    return scanner.peek(comma) == ',' ? scanner.skipSpace(comma + 1) : end;
  }

  byte[] bytes() {
    return json;
  }

  /** Returns the start of the given bytes, including space around the object. */
  int from() {
    return from;
  }

  int to() {
    return to;
  }

  /** Returns the position for a new last member. */
  int insertAt() {
    return insertAt;
  }
}
