package io.inferspan.pd.allow;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import io.inferspan.pd.config.HostText;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The pods of an InferencePool by address and by name, as reported by the API server.
 *
 * <p>Allows no host until the pool and its pods have been listed once. If the API server becomes
 * unreachable, the last list remains. A deleted pool, or one whose selector is empty, has no pods.
 */
final class PoolAllowList implements AllowList {
  private static final System.Logger LOG = System.getLogger(PoolAllowList.class.getName());
  private static final Duration SILENCE = Duration.ofSeconds(ResourceWatch.WATCH_SECONDS + 15L);

  private final ApiClient api;
  private final Context context;
  private final String namespace;
  private final String pool;
  private volatile Set<String> hosts = Set.of();
  private volatile boolean closed;

  // The fields below are used on the context only.
  private int pods;
  private Map<String, String> selector = Map.of();
  private @Nullable ResourceWatch poolWatch;
  private @Nullable ResourceWatch podWatch;
  private boolean synced;

  private PoolAllowList(ApiClient api, String namespace, String pool) {
    this.api = api;
    this.context = api.vertx().getOrCreateContext();
    this.namespace = namespace;
    this.pool = pool;
  }

  /**
   * Starts watching and returns at once.
   *
   * @param group the pool's API group; {@code x-k8s.io} groups have it as v1alpha2, others as v1
   */
  static PoolAllowList watch(
      Vertx vertx, KubernetesApi api, String namespace, String name, String group) {
    PoolAllowList list = new PoolAllowList(ApiClient.of(vertx, api, SILENCE), namespace, name);
    String version = group.endsWith(".x-k8s.io") ? "v1alpha2" : "v1";
    String collection =
        "/apis/%s/%s/namespaces/%s/inferencepools?fieldSelector=%s"
            .formatted(group, version, namespace, encoded("metadata.name=" + name));
    list.context.runOnContext(_ -> list.watchPool(collection));
    return list;
  }

  @Override
  public boolean allows(String hostPort) {
    String host = HostText.ofTarget(hostPort);
    return host != null && hosts.contains(host);
  }

  @Override
  public void close() {
    closed = true;
    context.runOnContext(
        _ -> {
          end(poolWatch);
          end(podWatch);
        });
    api.client().close();
  }

  private void watchPool(String collection) {
    if (!closed) {
      poolWatch = new ResourceWatch(api, collection, this::changePool, why -> lost(title(), why));
      poolWatch.start();
    }
  }

  private void changePool(Map<String, ObjectState> listed) {
    ObjectState found = listed.get(pool);
    if (found == null) {
      LOG.log(WARNING, "The " + title() + " does not exist, so it allows no host.");
    } else if (found.selector().isEmpty()) {
      LOG.log(WARNING, "The " + title() + " selects no pods, so it allows no host.");
    }
    select(found == null ? Map.of() : found.selector());
  }

  /** Selects other pods; those of the old selector stay allowed until the new ones are listed. */
  private void select(Map<String, String> wanted) {
    if (wanted.equals(selector)) {
      return;
    }
    selector = wanted;
    end(podWatch);
    podWatch = null;
    if (wanted.isEmpty()) {
      publish(Map.of());
      return;
    }
    String labels =
        new TreeMap<>(wanted)
            .entrySet().stream().map(Object::toString).collect(Collectors.joining(","));
    String collection =
        "/api/v1/namespaces/%s/pods?labelSelector=%s".formatted(namespace, encoded(labels));
    podWatch =
        new ResourceWatch(
            api, collection, this::changePods, why -> lost("the pods of " + title(), why));
    podWatch.start();
  }

  private void changePods(Map<String, ObjectState> listed) {
    if (!synced || listed.size() != pods) {
      LOG.log(INFO, "The " + title() + " has " + listed.size() + " pods.");
    }
    synced = true;
    publish(listed);
  }

  private void publish(Map<String, ObjectState> listed) {
    Set<String> allowed = new HashSet<>();
    pods = listed.size();
    for (ObjectState pod : listed.values()) {
      if (!pod.over()) {
        allow(allowed, pod.name());
        pod.addresses().forEach(address -> allow(allowed, address));
      }
    }
    hosts = Set.copyOf(allowed);
  }

  private static void allow(Set<String> allowed, String host) {
    String spelled = HostText.of(host);
    if (spelled != null) {
      allowed.add(spelled);
    }
  }

  private void lost(String what, String why) {
    String meanwhile =
        synced
            ? "the last " + pods + " pods stay allowed."
            : "no host of the pool is allowed until its pods are listed.";
    LOG.log(
        WARNING,
        "The API server cannot be queried for %s (%s); %s".formatted(what, why, meanwhile));
  }

  private String title() {
    return "inference pool " + namespace + "/" + pool;
  }

  private static void end(@Nullable ResourceWatch watch) {
    if (watch != null) {
      watch.close();
    }
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
