import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A small JSON parser, to check the requests that reached the upstream. Values are maps, lists, strings, doubles, booleans and null.
 */
final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  static Object read(String text) {
    Json json = new Json(text);
    Object value = json.value();
    json.skipSpace();
    if (json.at < text.length()) {
      throw json.broken();
    }
    return value;
  }

  private Object value() {
    skipSpace();
    return switch (text.charAt(at)) {
      case '{' -> object();
      case '[' -> array();
      case '"' -> string();
      case 't' -> word("true", true);
      case 'f' -> word("false", false);
      case 'n' -> word("null", null);
      default -> number();
    };
  }

  private Map<String, Object> object() {
    Map<String, Object> members = new LinkedHashMap<>();
    at++;
    while (!ends('}')) {
      skipSpace();
      String name = string();
      skipSpace();
      expect(':');
      if (members.containsKey(name)) {
        throw new InvalidRunException("The key " + name + " occurs twice.");
      }
      members.put(name, value());
    }
    return members;
  }

  private List<Object> array() {
    List<Object> values = new ArrayList<>();
    at++;
    while (!ends(']')) {
      values.add(value());
    }
    return values;
  }

  private boolean ends(char end) {
    skipSpace();
    char c = text.charAt(at);
    if (c == end || c == ',') {
      at++;
    }
    return c == end;
  }

  private String string() {
    expect('"');
    StringBuilder characters = new StringBuilder();
    while (text.charAt(at) != '"') {
      characters.append(text.charAt(at++) == '\\' ? escaped() : text.charAt(at - 1));
    }
    at++;
    return characters.toString();
  }

  private char escaped() {
    char c = text.charAt(at++);
    return switch (c) {
      case 'n' -> '\n';
      case 't' -> '\t';
      case 'r' -> '\r';
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'u' -> (char) Integer.parseInt(text.substring(at, at += 4), 16);
      default -> c;
    };
  }

  private Double number() {
    int start = at;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    return Double.valueOf(text.substring(start, at));
  }

  private Object word(String word, Object meaning) {
    if (!text.startsWith(word, at)) {
      throw broken();
    }
    at += word.length();
    return meaning;
  }

  private void expect(char c) {
    if (text.charAt(at) != c) {
      throw broken();
    }
    at++;
  }

  private void skipSpace() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
  }

  private InvalidRunException broken() {
    return new InvalidRunException("Invalid JSON at character " + at + ": " + text);
  }
}
