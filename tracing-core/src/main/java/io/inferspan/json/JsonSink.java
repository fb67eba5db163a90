package io.inferspan.json;

/** Receives the values that a {@link JsonScanner} finds at the places of its {@link Grammar}. */
public interface JsonSink {

  /** Called when a new document begins. */
  default void begins() {}

  /** Called when an object or a list begins. */
  default void enters(int place, long nowNanos) {}

  /** Called when an object or a list ends. */
  default void leaves(int place) {}

  /** Called at the first byte of a text that is not empty. */
  default void present(int place, long nowNanos) {}

  /** Called with the meaning of a word; {@link Places#NOTHING} for an unknown word. */
  default void word(int place, int meaning, JsonPath path) {}

  /** Returns whether a text should be read. */
  default boolean wants(int place) {
    return true;
  }

  /** Called with a text; the object is reused. */
  default void text(int place, ShortText text) {}

  /** Called with a number that has no sign and no fraction. */
  default void count(int place, long count, long nowNanos) {}

  /** Called with the last eight letters of a bare word; the last letter is the lowest byte. */
  default void mark(int place, long letters) {}

  /** Called with the position of a value, up to its separator, in the current bytes. */
  default void range(int place, int from, int to) {}
}
