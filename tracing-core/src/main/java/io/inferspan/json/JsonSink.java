package io.inferspan.json;

/** Receives the values that a {@link JsonScanner} finds at the places of its {@link Grammar}. */
public interface JsonSink {

  /** A new document begins. */
  default void begins() {}

  /** An object or a list begins. */
  default void enters(int place, long nowNanos) {}

  /** An object or a list ends. */
  default void leaves(int place) {}

  /** A text that is not empty begins. */
  default void present(int place, long nowNanos) {}

  /** A known word, or {@link Places#NOTHING} for any other. */
  default void word(int place, int meaning, JsonPath path) {}

  /** Returns whether a text should be read. */
  default boolean wants(int place) {
    return true;
  }

  /** A text; the object is used again. */
  default void text(int place, ShortText text) {}

  /** A number without sign and fraction. */
  default void count(int place, long count, long nowNanos) {}

  /** A bare word: its last eight letters, the last one lowest. */
  default void mark(int place, long letters) {}

  /** A value from its first byte to the separator after it, in the bytes at hand. */
  default void range(int place, int from, int to) {}
}
