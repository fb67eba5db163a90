package io.inferspan.pd.connector;

import io.inferspan.pd.config.HostText;
import io.inferspan.pd.config.Settings;
import io.inferspan.pd.config.SidecarConfig;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Caches the addresses of pods that are configured by name.
 *
 * <p>A name is resolved at startup, and again by the first request that finds its address expired.
 * That request does not wait: it uses the old address, or the name if there is none yet.
 */
public final class PodAddresses {
  private static final Logger LOGGER = System.getLogger("io.inferspan.pd");
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Function<String, Future<String>> lookup;
  private final long ttlNanos;

  // The names of these metrics are llm-d's.
  private final Counter lookedUp;
  private final Counter changed;
  private final Counter failed;

  private final Map<String, Pod> pods = new HashMap<>();

  /** The known state of one name. */
  private static final class Pod {
    private final AtomicBoolean asking = new AtomicBoolean();
    private volatile @Nullable String address;
    private volatile long askAgainNanos = System.nanoTime();
  }

  private PodAddresses(
      Function<String, Future<String>> lookup, long ttlNanos, MeterRegistry meters) {
    this.lookup = lookup;
    this.ttlNanos = ttlNanos;
    this.lookedUp = counter(meters, "moriio_dns_reresolve", "Names of pods looked up");
    this.changed = counter(meters, "moriio_dns_ip_changed", "Pods found at another address");
    this.failed = counter(meters, "moriio_dns_lookup_failures", "Names of pods not found");
  }

  private static Counter counter(MeterRegistry meters, String name, String description) {
    return Counter.builder(name).description(description).register(meters);
  }

  /**
   * Creates a cache for the pods that the settings name. The cache is empty if MoRI-IO's WRITE mode
   * is off or this pod's IP is not known.
   *
   * @param lookup resolves a name, or fails within a bounded time
   */
  public static PodAddresses of(
      SidecarConfig settings, Function<String, Future<String>> lookup, MeterRegistry meters) {
    Set<String> hosts = new HashSet<>();
    String own = settings.localPodIp();
    if (settings.get(Settings.MORIIO_WRITE_MODE) && own != null) {
      hosts.addAll(settings.get(Settings.MORIIO_REMOTE_HOSTS));
      hosts.addAll(settings.get(Settings.MORIIO_DECODE_HOSTS));
      hosts.add(own);
    }
    Duration ttl = Duration.ofSeconds(settings.get(Settings.MORIIO_DNS_RESOLVE_TTL));
    return of(hosts, ttl, lookup, meters);
  }

  /** Creates a cache for the names in {@code hosts}. */
  static PodAddresses of(
      Collection<String> hosts,
      Duration ttl,
      Function<String, Future<String>> lookup,
      MeterRegistry meters) {
    PodAddresses addresses = new PodAddresses(lookup, ttl.toNanos(), meters);
    for (String host : hosts) {
      if (!HostText.isAddress(host)) {
        addresses.pods.put(host, new Pod());
      }
    }
    return addresses;
  }

  /** Completes when all names have been resolved once, successfully or not. */
  public Future<?> known() {
    return Future.join(
        pods.entrySet().stream().map(pod -> ask(pod.getKey(), pod.getValue())).toList());
  }

  /** Returns the last known address of {@code host}, or {@code host} itself if there is none. */
  String of(String host) {
    Pod pod = pods.get(host);
    if (pod == null) {
      return host;
    }
    if (System.nanoTime() - pod.askAgainNanos >= 0) {
      ask(host, pod);
    }
    String address = pod.address;
    return address == null ? host : address;
  }

  private Future<?> ask(String name, Pod pod) {
    if (!pod.asking.compareAndSet(false, true)) {
      return Future.succeededFuture();
    }
    return lookup
        .apply(name)
        .onComplete(
            asked -> {
              if (asked.succeeded()) {
                found(name, pod, asked.result());
              } else {
                notFound(name, pod, asked.cause());
              }
              pod.asking.set(false);
            });
  }

  private void found(String name, Pod pod, String address) {
    String before = pod.address;
    pod.address = address;
    pod.askAgainNanos = System.nanoTime() + ttlNanos;
    lookedUp.increment();
    if (before != null && !before.equals(address)) {
      changed.increment();
      LOGGER.log(Level.INFO, () -> name + " now has the address " + address + ", before " + before);
    }
  }

  private void notFound(String name, Pod pod, Throwable cause) {
    String before = pod.address;
    pod.askAgainNanos = System.nanoTime() + Math.min(ttlNanos, RETRY_NANOS);
    failed.increment();
    LOGGER.log(
        before == null ? Level.WARNING : Level.DEBUG,
        () ->
            name
                + " cannot be looked up ("
                + cause.getMessage()
                + "), so engines get "
                + (before == null ? "the name" : before));
  }
}
