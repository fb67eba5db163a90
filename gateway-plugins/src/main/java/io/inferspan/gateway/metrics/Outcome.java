package io.inferspan.gateway.metrics;

/** The outcome of a request, for meters. */
public enum Outcome {
  /** Answered with a status below 400, to the end. */
  SUCCESS("success"),
  /** Answered with a status from 400 to 499. */
  REJECTED("rejected"),
  /** Answered with a status from 500 on, with an error in its stream, or not to the end. */
  ERROR("error"),
  /** Ended by the client's disconnection. */
  CLIENT_GONE("client_gone"),
  /** Given up at a time limit. */
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
