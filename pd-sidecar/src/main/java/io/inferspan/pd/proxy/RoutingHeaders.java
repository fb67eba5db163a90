package io.inferspan.pd.proxy;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The endpoint picker's headers of a request. {@link #takeFrom} removes them from the request,
 * except {@code x-data-parallel-host-port}.
 *
 * @param prefillers candidates for prefill in the order of the header, trimmed, including blank
 *     ones
 * @param encoders candidates for encoding
 * @param kvSource the pod from which KV blocks may be pulled
 * @param dataParallel the sidecar address of the rank to decode on
 */
record RoutingHeaders(
    List<String> prefillers,
    List<String> encoders,
    @Nullable String kvSource,
    @Nullable String dataParallel) {
  private static final AsciiString PREFILLER = AsciiString.cached("x-prefiller-host-port");
  private static final AsciiString ENCODERS = AsciiString.cached("x-encoder-hosts-ports");
  private static final AsciiString KV_SOURCE = AsciiString.cached("x-kv-cache-source-host-port");
  private static final AsciiString DATA_PARALLEL = AsciiString.cached("x-data-parallel-host-port");

  static final RoutingHeaders NONE = new RoutingHeaders(List.of(), List.of(), null, null);

  static RoutingHeaders takeFrom(HttpHeaders headers) {
    RoutingHeaders routing =
        new RoutingHeaders(
            listed(headers, PREFILLER),
            listed(headers, ENCODERS),
            trimmed(headers.get(KV_SOURCE)),
            headers.get(DATA_PARALLEL));
    headers.remove(PREFILLER).remove(ENCODERS).remove(KV_SOURCE);
    return routing;
  }

  /**
   * Returns the entries of a header. A single line is split at commas; if there are several lines,
   * each is an entry.
   */
  private static List<String> listed(HttpHeaders headers, AsciiString name) {
    if (!headers.contains(name)) {
      return List.of();
    }
    List<String> lines = headers.getAll(name);
    List<String> entries = lines.size() == 1 ? List.of(lines.getFirst().split(",", -1)) : lines;
    List<String> trimmed = new ArrayList<>(entries.size());
    for (String entry : entries) {
      trimmed.add(entry.trim());
    }
    return trimmed;
  }

  private static @Nullable String trimmed(@Nullable String value) {
    return value == null || value.isBlank() ? null : value.trim();
  }
}
