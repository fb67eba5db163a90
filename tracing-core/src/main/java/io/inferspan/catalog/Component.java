package io.inferspan.catalog;

/** The component that creates a span; it determines the instrumentation scope. */
public enum Component {
  GATEWAY("gateway-api-inference-extension", "llm-d-router/pkg/epp/handlers"),
  REQUEST_CONTROL("llm-d-inference-scheduler", "llm-d-router/pkg/epp/requestcontrol"),
  SCHEDULING("llm-d-inference-scheduler", "llm-d-router/pkg/epp/scheduling"),
  SCHEDULING_PLUGINS(
      "llm-d-inference-scheduler", "llm-d-router/pkg/epp/framework/plugins/scheduling"),
  REQUEST_CONTROL_PLUGINS(
      "llm-d-inference-scheduler", "llm-d-router/pkg/epp/framework/plugins/requestcontrol"),
  KV_CACHE("llm-d-kv-cache", "llm-d-router/pkg/kvcache"),
  KV_INDEX("llm-d-kv-cache", "llm-d-router/pkg/kvcache/kvblock"),
  KV_EVENTS("llm-d-kv-cache", "llm-d-router/pkg/kvevents"),
  PD_PROXY("llm-d-inference-scheduler", "llm-d-router/pkg/sidecar/proxy"),
  ENGINE("vllm.llm_engine", "vllm.llm_engine"),
  KERNEL("inferspan.ebpf", "inferspan.ebpf");

  private final String proposalScope;
  private final String scope;

  Component(String proposalScope, String scope) {
    this.proposalScope = proposalScope;
    this.scope = scope;
  }

  /** Returns the instrumentation scope of this component's spans. */
  public String scope(SpanNaming naming) {
    return naming == SpanNaming.PROPOSAL ? proposalScope : scope;
  }
}
