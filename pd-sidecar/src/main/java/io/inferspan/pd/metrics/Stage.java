package io.inferspan.pd.metrics;

/** A part of serving a request, as metrics name it. */
public enum Stage {
  /** Filling the KV cache elsewhere. */
  PREFILL("prefill"),
  /** Generating here. */
  DECODE("decode"),
  /** Encoding media on other pods. */
  ENCODE("encode"),
  /** The request as a whole; as a failure, one that belongs to no other stage. */
  REQUEST("request");

  private final String label;

  Stage(String label) {
    this.label = label;
  }

  /** Its value of the label {@code stage}. */
  public String label() {
    return label;
  }
}
