package io.inferspan.pd.config;

import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;

/**
 * A connector that transfers the KV cache from prefiller to decoder, with its metadata: settings,
 * help, pages and metric labels are derived from it.
 *
 * <p>Connectors are found by {@link java.util.ServiceLoader}.
 */
public interface KvConnector {
  /** The default, which other settings are about. */
  String NIXL = "nixlv2";

  /** Its name in settings, span attributes and metric labels. */
  String name();

  /** Names that still work and are noted. */
  default List<String> formerly() {
    return List.of();
  }

  /** In which order prefill and decode run, for the pages. */
  String order();

  /** Returns what it transfers, for the pages. */
  String handsOver();

  /** All connectors, the default one first. */
  static List<KvConnector> all() {
    return Found.ALL;
  }

  /** The names of all. */
  static List<String> names() {
    return all().stream().map(KvConnector::name).toList();
  }

  /** The old names of all. */
  static List<String> oldNames() {
    return all().stream().flatMap(connector -> connector.formerly().stream()).toList();
  }

  /** The connector of that name, current or old. */
  static KvConnector named(String name) {
    return all().stream()
        .filter(connector -> connector.name().equals(name) || connector.formerly().contains(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no KV connector is called " + name));
  }

  /** Those on the class path. */
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
