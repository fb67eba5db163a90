package io.inferspan.kvcache.index;

/** Whose name for a block it is. */
public enum KeyType {
  /** The engine's own hash, as its events carry it. */
  ENGINE,
  /** The key that is made from a request's tokens. */
  REQUEST
}
