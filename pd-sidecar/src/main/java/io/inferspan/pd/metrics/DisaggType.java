package io.inferspan.pd.metrics;

/** How a request was split over several engines: the KV connector's name, or encoding. */
public enum DisaggType {
  /** The KV connector of that name. */
  NIXLV2("nixlv2"),
  /** The KV connector of that name. */
  SHARED_STORAGE("shared-storage"),
  /** The KV connector of that name. */
  SGLANG("sglang"),
  /** The KV connector of that name. */
  MOONCAKE("mooncake"),
  /** The KV connector of that name. */
  OFFLOADING("offloading"),
  /** An encode stage; counted beside the connector where there is a prefill stage as well. */
  ENCODE("encode");

  private final String label;

  DisaggType(String label) {
    this.label = label;
  }

  /** Its value of the label {@code disagg_type}. */
  public String label() {
    return label;
  }
}
