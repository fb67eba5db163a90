package io.inferspan.json;

/** Receives the values that a {@link JsonScanner} finds at the nodes of its {@link Grammar}. */
public interface JsonSink {

  /** Called when a new document begins. */
  default void begins() {}

  /** Called when an object or an array begins. */
  default void enters(int node, long nowNanos) {}

  /** Called when an object or an array ends. */
  default void leaves(int node) {}

  /** Called for a {@link NodeType#CONTENT}, at the first byte of a non-empty string. */
  default void present(int node, long nowNanos) {}

  /**
   * Called for a {@link NodeType#KEYWORD} with the meaning that the grammar defines; {@link
   * NodeType#NOTHING} if it defines none.
   */
  default void keyword(int node, int meaning, JsonCursor cursor) {}

  /** Returns whether the string at a {@link NodeType#TEXT} should be read. */
  default boolean wants(int node) {
    return true;
  }

  /** Called for a {@link NodeType#TEXT}; the object is reused for the next one. */
  default void text(int node, ShortText text) {}

  /** Called for a {@link NodeType#COUNT} with its value. */
  default void count(int node, long count, long nowNanos) {}

  /**
   * Called for a {@link NodeType#LITERAL} with its last eight characters; the lowest byte is the
   * last character.
   */
  default void literal(int node, long letters) {}

  /**
   * Called for a {@link NodeType#RANGE} with the value's bounds in the current bytes; {@code to} is
   * the index of the separator after the value.
   */
  default void range(int node, int from, int to) {}
}
