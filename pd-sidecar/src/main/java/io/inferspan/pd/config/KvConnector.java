package io.inferspan.pd.config;

import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;

/**
 * A connector that transfers the KV cache from prefiller to decoder, with its metadata. Settings,
 * help and metric labels are derived from the metadata.
 *
 * <p>Connectors are found by {@link java.util.ServiceLoader}.
 */
public interface KvConnector {
  /** The default connector; some settings apply only to it. */
  String NIXL = "nixlv2";

  /**
   * A description of a connector.
   *
   * @param name its name in settings, span attributes and metric labels
   * @param order the order of prefill and decode
   * @param transfers what prefill passes to decode
   */
  record About(String name, String order, String transfers) {}

  About about();

  default String name() {
    return about().name();
  }

  /** Returns deprecated names, which still work, with a warning at startup. */
  default List<String> formerly() {
    return List.of();
  }

  /** Returns all connectors, the default one first. */
  static List<KvConnector> all() {
    return Found.ALL;
  }

  static List<String> names() {
    return all().stream().map(KvConnector::name).toList();
  }

  static List<String> oldNames() {
    return all().stream().flatMap(connector -> connector.formerly().stream()).toList();
  }

  /** Returns the connector with this current or deprecated name. */
  static KvConnector named(String name) {
    return all().stream()
        .filter(connector -> connector.name().equals(name) || connector.formerly().contains(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no KV connector is called " + name));
  }

  /** The connectors on the class path. */
  final class Found {
    private static final List<KvConnector> ALL =
        ServiceLoader.load(KvConnector.class, KvConnector.class.getClassLoader()).stream()
            .map(ServiceLoader.Provider::get)
            .sorted(
                Comparator.comparing((KvConnector connector) -> !connector.name().equals(NIXL))
                    .thenComparing(KvConnector::name))
            .toList();

    private Found() {}
  }
}
