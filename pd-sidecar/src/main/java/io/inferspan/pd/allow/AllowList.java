package io.inferspan.pd.allow;

/**
 * The hosts that requests may name as targets, against server-side request forgery.
 *
 * <p>Safe on event loops: an answer needs no I/O and no lock.
 */
@FunctionalInterface
public interface AllowList extends AutoCloseable {

  /** Allows every target: protection is off. */
  static AllowList everything() {
    return _ -> true;
  }

  /**
   * Returns whether the host of {@code hostPort} is on the list; the port is ignored. A leading
   * {@code http://} and brackets around an IPv6 address are accepted, any other text is denied.
   */
  boolean allows(String hostPort);

  /** Stops following changes; the last list keeps answering. */
  @Override
  default void close() {}
}
