package io.inferspan.pd.json;

/** The types of JSON values. */
public enum JsonKind {
  OBJECT,
  ARRAY,
  STRING,
  NUMBER,
  BOOLEAN,
  NULL;

  /** Returns the type of a valid value by its first byte. */
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
