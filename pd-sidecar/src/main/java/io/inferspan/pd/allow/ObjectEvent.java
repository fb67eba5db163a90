package io.inferspan.pd.allow;

/** One line of a watch, or one item of a list. */
sealed interface ObjectEvent {

  /** An object exists, or has changed. */
  record Present(ObjectState object) implements ObjectEvent {}

  /** An object was deleted, or no longer matches. */
  record Gone(String name) implements ObjectEvent {}

  /** The server has ended the watch with an error. */
  record Failed() implements ObjectEvent {}

  /**
   * All events up to {@code version} have been sent: the end of a list, or a bookmark of a watch.
   */
  record UpTo(String version) implements ObjectEvent {}
}
