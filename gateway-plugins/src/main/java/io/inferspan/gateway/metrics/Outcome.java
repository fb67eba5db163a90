package io.inferspan.gateway.metrics;

/** The outcome of a request, for meters. */
public enum Outcome {
  /** A complete response with a status below 400. */
  SUCCESS("success"),
  /** A response with a status from 400 to 499. */
  REJECTED("rejected"),
  /** A status of 500 or more, an error within a stream, or an incomplete response. */
  ERROR("error"),
  /** The client disconnected. */
  CLIENT_GONE("client_gone"),
  /** A time limit was reached. */
  TIMEOUT("timeout");

  private final String label;

  Outcome(String label) {
    this.label = label;
  }

  /** Returns the value of the tag. */
  public String label() {
    return label;
  }

  /** Returns whether the response was not delivered correctly. */
  public boolean isBroken() {
    return this == ERROR || this == CLIENT_GONE || this == TIMEOUT;
  }
}
