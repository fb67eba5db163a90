package io.inferspan.pd.json;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object where it stands in its bytes: valid as a whole, known by the members that were
 * wanted.
 *
 * <p>Immutable as long as the bytes are not changed; any number of {@linkplain #edit() edits} may
 * start from it.
 */
public final class JsonObject {
  /**
   * More occurrences of wanted members than this make no sense and would cost many times the body's
   * size.
   */
  static final int MAX_MEMBERS = 1 << 16;

  private final byte[] json;
  private final JsonShape wanted;
  private final List<Member> members = new ArrayList<>();
  private final Map<String, Member> lastByName = new HashMap<>();

  private final int from;
  private final int to;
  private int size;
  private int insertAt;

  /**
   * An occurrence of a wanted member.
   *
   * @param index how many members of the object stand before it, wanted or not
   * @param comma where the comma before it stands; the opening brace for the first
   * @param key where its key starts
   */
  record Member(String name, int index, int comma, int key, JsonValue value) {}

  private JsonObject(byte[] json, int from, int to, JsonShape wanted) {
    this.json = json;
    this.from = from;
    this.to = to;
    this.wanted = wanted;
  }

  /**
   * Reads an object that takes all of the given bytes, apart from space around it.
   *
   * @throws InvalidJson if they are anything else, or if containers nest deeper than {@code
   *     maxDepth}
   */
  public static JsonObject scan(byte[] json, int from, int to, JsonShape wanted, int maxDepth)
      throws InvalidJson {
    JsonScanner scanner = new JsonScanner(json, to, maxDepth);
    int start = scanner.skipSpace(from);
    if (scanner.peek(start) != '{') {
      throw new InvalidJson(startsWithMark(json, from, to) ? "byte order mark" : "not an object");
    }
    JsonObject object = new JsonObject(json, from, to, wanted);
    int end = object.scan(scanner, start);
    if (end != to) {
      throw new InvalidJson("more behind the object at offset " + end);
    }
    return object;
  }

  /** Reads an object that takes all of the given bytes. */
  public static JsonObject scan(byte[] json, JsonShape wanted, int maxDepth) throws InvalidJson {
    return scan(json, 0, json.length, wanted, maxDepth);
  }

  /** Reads another object, of which the same members are wanted. */
  public JsonScan scanAlike(byte[] other, int maxDepth) {
    return JsonScan.of(other, wanted, maxDepth);
  }

  private static boolean startsWithMark(byte[] json, int from, int to) {
    return to - from >= 3
        && json[from] == (byte) 0xef
        && json[from + 1] == (byte) 0xbb
        && json[from + 2] == (byte) 0xbf;
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
    int keyEnd = scanner.skipString(key);
    int value = scanner.skipMark(scanner.skipSpace(keyEnd), ':');
    insertAt = scanner.skipValue(value, 1);
    String name = wanted.match(json, key + 1, keyEnd - 1);
    if (name != null) {
      remember(new Member(name, size, comma, key, new JsonValue(json, value, insertAt)));
    }
    size++;
    return scanner.skipSpace(insertAt);
  }

  private void remember(Member member) throws InvalidJson {
    if (members.size() == MAX_MEMBERS) {
      throw new InvalidJson("more than " + MAX_MEMBERS + " members of interest");
    }
    members.add(member);
    lastByName.put(member.name(), member);
  }

  /** Returns whether the object has a member, which must be one of the wanted names. */
  public boolean has(String name) {
    return last(name) != null;
  }

  /**
   * A member's value, the last one if the key occurs more than once; the name must be one of the
   * wanted.
   */
  public @Nullable JsonValue value(String name) {
    Member last = last(name);
    return last == null ? null : last.value();
  }

  /**
   * The value that a path leads to, such as {@code at("choices", "0", "message", "content")}; null
   * where it leads nowhere. The first name must be one of the wanted.
   */
  public @Nullable JsonValue at(String first, String... path) {
    JsonValue value = value(first);
    for (int i = 0; i < path.length && value != null; i++) {
      value = step(value, path[i]);
    }
    return value;
  }

  private static @Nullable JsonValue step(JsonValue value, String step) {
    return isIndex(step) ? value.element(Integer.parseInt(step)) : value.member(step);
  }

  private static boolean isIndex(String step) {
    for (int i = 0; i < step.length(); i++) {
      if (!Character.isDigit(step.charAt(i))) {
        return false;
      }
    }
    return !step.isEmpty();
  }

  /** The names of the wanted members that are here. */
  public Set<String> names() {
    return Set.copyOf(lastByName.keySet());
  }

  /** Starts a change of this object; the object itself stays as it is. */
  public JsonEdit edit() {
    return new JsonEdit(this);
  }

  @Nullable Member last(String name) {
    require(name);
    return lastByName.get(name);
  }

  /**
   * A member that was not looked for may be there or not: asking for it is a mistake in our code,
   * not in the body.
   */
  void require(String name) {
    if (!wanted.contains(name)) {
      throw new IllegalArgumentException(
          "the scan did not look for member " + name + "; a connector declares its members");
    }
  }

  List<Member> members() {
    return members;
  }

  /** Returns the start of the member after this one; after the last one, its end. */
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

  /** Returns the number of members, wanted or not. */
  int size() {
    return size;
  }

  /** Returns the position for a new last member. */
  int insertAt() {
    return insertAt;
  }
}
