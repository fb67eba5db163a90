package io.inferspan.pd.json;

/** What a JSON value is. */
public enum JsonKind {
  OBJECT,
  ARRAY,
  STRING,
  NUMBER,
  BOOLEAN,
  NULL;

  /** The kind of a valid value, told by its first byte. */
  static JsonKind startingWith(byte first) {
    return switch (first) {
      case '{' -> OBJECT;
      case '[' -> ARRAY;
      case '"' -> STRING;
      case 't', 'f' -> BOOLEAN;
      case 'n' -> NULL;
      default -> NUMBER;
    };
  }
}
