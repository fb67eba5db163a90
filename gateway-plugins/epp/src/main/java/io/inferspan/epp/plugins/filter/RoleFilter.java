package io.inferspan.epp.plugins.filter;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Filter;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Keeps the endpoints whose role label has one of the given values. */
public final class RoleFilter implements Filter {

  /** The label that contains a pod's role. */
  public static final String LABEL = "llm-d.ai/role";

  private final String type;
  private final Set<String> roles;
  private final boolean keepsUnlabelled;

  private RoleFilter(String type, boolean keepsUnlabelled, Set<String> roles) {
    this.type = type;
    this.keepsUnlabelled = keepsUnlabelled;
    this.roles = roles;
  }

  /** Returns a filter for pods that decode, including pods without the label. */
  public static RoleFilter decode() {
    return new RoleFilter(
        "decode-filter", true, Set.of("decode", "prefill-decode", "both", "encode-prefill-decode"));
  }

  /** Returns a filter for pods that prefill. */
  public static RoleFilter prefill() {
    return new RoleFilter(
        "prefill-filter",
        false,
        Set.of("prefill", "encode-prefill", "prefill-decode", "both", "encode-prefill-decode"));
  }

  /** Returns a filter for pods that encode media. */
  public static RoleFilter encode() {
    return new RoleFilter(
        "encode-filter", false, Set.of("encode", "encode-prefill", "encode-prefill-decode"));
  }

  @Override
  public String type() {
    return type;
  }

  @Override
  public List<Endpoint> filter(Cycle cycle, List<Endpoint> endpoints, Context context) {
    List<Endpoint> left = new ArrayList<>(endpoints.size());
    for (Endpoint endpoint : endpoints) {
      String role = endpoint.labels().get(LABEL);
      if (role == null ? keepsUnlabelled : roles.contains(role)) {
        left.add(endpoint);
      }
    }
    return left;
  }
}
