package io.inferspan.kvcache.index;

/** The origin of a block's key. */
public enum KeyType {
  /** The engine's own hash, as in its events. */
  ENGINE,
  /** The key computed from a request's tokens. */
  REQUEST
}
