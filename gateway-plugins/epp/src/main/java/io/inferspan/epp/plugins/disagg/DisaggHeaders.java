package io.inferspan.epp.plugins.disagg;

import io.inferspan.epp.Endpoint;
import io.inferspan.epp.PreRequest;
import io.inferspan.epp.SchedulingResult;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Sets the headers with the destination of a request and its prefill and encode pods.
 *
 * <p>It first removes all routing headers of the client, so that a client cannot choose pods. These
 * include the headers for the source of KV blocks and for the data-parallel rank, which no plugin
 * sets.
 */
public final class DisaggHeaders implements PreRequest {

  /** The destination of the request, for the gateway's proxy. */
  public static final String DESTINATION = "x-gateway-destination-endpoint";

  /** The prefill pod, for the P/D sidecar. */
  public static final String PREFILLER = "x-prefiller-host-port";

  /** The encode pods, for the P/D sidecar. */
  public static final String ENCODERS = "x-encoder-hosts-ports";

  /** All headers that route a request; they are removed if a client sends them. */
  public static final List<String> ROUTING =
      List.of(
          DESTINATION,
          PREFILLER,
          ENCODERS,
          "x-kv-cache-source-host-port",
          "x-data-parallel-host-port");

  /** Creates the plugin, which has no settings. */
  public DisaggHeaders() {}

  @Override
  public String type() {
    return "disagg-headers-handler";
  }

  @Override
  public boolean preparesDisaggregation() {
    return true;
  }

  @Override
  public void prepare(SchedulingResult result, Headers headers) {
    ROUTING.forEach(headers::remove);
    Endpoint target = result.target();
    if (target == null) {
      return;
    }
    headers.set(DESTINATION, target.authority());
    Endpoint prefiller = result.prefillTarget();
    if (prefiller != null) {
      headers.set(PREFILLER, prefiller.authority());
    }
    List<Endpoint> encoders = result.encode();
    if (encoders != null && !encoders.isEmpty()) {
      headers.set(
          ENCODERS, encoders.stream().map(Endpoint::authority).collect(Collectors.joining(",")));
    }
  }
}
