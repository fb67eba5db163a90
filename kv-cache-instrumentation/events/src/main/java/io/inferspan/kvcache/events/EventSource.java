package io.inferspan.kvcache.events;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A publisher of events, and the pod whose blocks it reports.
 *
 * @param pod the pod's identity, usually {@code ip:port}; it overrides the one in topics
 * @param endpoint the address it publishes on, such as {@code tcp://10.0.0.7:5557}
 * @param replayEndpoint the address it replays on; null if it does not replay
 */
public record EventSource(String pod, String endpoint, @Nullable String replayEndpoint) {

  private static final Pattern ENDPOINT = Pattern.compile("tcp://[^\\s:/\\[\\]]+:\\d{1,5}");
  private static final Pattern ENDPOINT_V6 = Pattern.compile("tcp://\\[[0-9a-fA-F:.%]+]:\\d{1,5}");
  private static final int MOST_PORT = 65_535;

  /** Rejects invalid endpoints. */
  public EventSource {
    if (pod.isBlank()) {
      throw new IllegalArgumentException(
          "The pod of " + endpoint + " has no name; set it to the address that lookups use");
    }
    checked("endpoint", endpoint);
    if (replayEndpoint != null) {
      checked("replayEndpoint", replayEndpoint);
    }
  }

  static String checked(String name, String endpoint) {
    boolean formed =
        ENDPOINT.matcher(endpoint).matches() || ENDPOINT_V6.matcher(endpoint).matches();
    if (!formed || portOf(endpoint) < 1 || portOf(endpoint) > MOST_PORT) {
      throw new IllegalArgumentException(
          name
              + " is \""
              + endpoint
              + "\"; it must be tcp://<host>:<port>, a port from 1 to 65535");
    }
    return endpoint;
  }

  private static int portOf(String endpoint) {
    return Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
  }

  /** Returns the host that publishes. */
  String host() {
    return endpoint.substring(endpoint.indexOf("//") + 2, endpoint.lastIndexOf(':'));
  }

  /** Returns the source of one rank of a pod named {@code host:port} or {@code host}. */
  static EventSource of(String pod, int rank, KvEventOptions options) {
    String host = host(pod);
    int replay = options.replayPort;
    return new EventSource(
        pod,
        "tcp://" + host + ":" + (options.port + rank),
        replay == 0 ? null : "tcp://" + host + ":" + (replay + rank));
  }

  private static String host(String pod) {
    int colon = pod.lastIndexOf(':');
    boolean bareV6 = pod.indexOf(':') != colon && !pod.contains("]");
    if (bareV6) {
      return "[" + pod + "]";
    }
    return colon > pod.lastIndexOf(']') ? pod.substring(0, colon) : pod;
  }
}
