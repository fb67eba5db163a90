package io.inferspan.pd.allow;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The address, credentials and CA of a Kubernetes API server.
 *
 * @param token read before each request, since the kubelet rotates it; empty for none
 * @param authority the PEM file with the server's CA certificates; null for those of the Java
 *     runtime
 */
public record KubernetesApi(URI base, Supplier<String> token, @Nullable Path authority) {
  private static final Path SERVICE_ACCOUNT =
      Path.of("/var/run/secrets/kubernetes.io/serviceaccount");

  /**
   * Returns the API server of this pod's cluster, from its environment and its service account.
   *
   * @throws IllegalArgumentException with one sentence, if this is not a pod of a cluster
   */
  public static KubernetesApi inCluster() {
    return inCluster(System.getenv(), SERVICE_ACCOUNT);
  }

  static KubernetesApi inCluster(Map<String, String> environment, Path serviceAccount) {
    String host = environment.getOrDefault("KUBERNETES_SERVICE_HOST", "");
    String port = environment.getOrDefault("KUBERNETES_SERVICE_PORT", "443");
    Path token = serviceAccount.resolve("token");
    Path authority = serviceAccount.resolve("ca.crt");
    if (host.isEmpty() || !port.matches("\\d{1,5}")) {
      throw new IllegalArgumentException(
          "The inference pool can be watched only inside a Kubernetes cluster;"
              + " KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT do not name an API server.");
    }
    for (Path file : new Path[] {token, authority}) {
      if (!Files.isReadable(file)) {
        throw new IllegalArgumentException(
            "The inference pool cannot be watched: %s cannot be read; the pod needs a mounted"
                    .formatted(file)
                + " service account token.");
      }
    }
    String written = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
    URI base = URI.create("https://" + written + ":" + port);
    return new KubernetesApi(base, () -> read(token), authority);
  }

  private static String read(Path token) {
    try {
      return Files.readString(token).strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the address, without the token. */
  @Override
  public String toString() {
    return base.toString();
  }
}
