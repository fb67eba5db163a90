package io.inferspan.json;

/** Receives the values that a {@link JsonScanner} finds at the places of its {@link Grammar}. */
public interface JsonSink {

  /** Called when a new document begins. */
  default void begins() {}

  /** Called when an object or an array begins. */
  default void enters(int place, long nowNanos) {}

  /** Called when an object or an array ends. */
  default void leaves(int place) {}

  /** Called for a {@link Places#CONTENT}, at the first byte of a string that is not empty. */
  default void present(int place, long nowNanos) {}

  /**
   * Called for a {@link Places#WORD} with the meaning that the grammar defines; {@link
   * Places#NOTHING} if it defines none.
   */
  default void word(int place, int meaning, JsonPath path) {}

  /** Returns whether the string at a {@link Places#TEXT} should be read. */
  default boolean wants(int place) {
    return true;
  }

  /** Called for a {@link Places#TEXT}; the object is reused for the next one. */
  default void text(int place, ShortText text) {}

  /** Called for a {@link Places#COUNT} with an integer that is not negative. */
  default void count(int place, long count, long nowNanos) {}

  /**
   * Called for a {@link Places#MARK} with the last eight characters of a literal; the last one is
   * the lowest byte.
   */
  default void mark(int place, long letters) {}

  /**
   * Called for a {@link Places#RANGE} with the bounds of a value in the current bytes; {@code to}
   * is the index of the separator after it.
   */
  default void range(int place, int from, int to) {}
}
