package io.inferspan.pd.allow;

/** One line of a watch, or one item of a list. */
sealed interface ObjectEvent {

  /** There is such an object, or it has changed. */
  record Present(ObjectState object) implements ObjectEvent {}

  /** There is no such object any more, or it matches no more. */
  record Gone(String name) implements ObjectEvent {}

  /** The server cannot go on. */
  record Failed(int code) implements ObjectEvent {}

  /** All up to {@code version} has been said; a list ends so, a watch says it now and then. */
  record UpTo(String version) implements ObjectEvent {}
}
