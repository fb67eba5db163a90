package io.inferspan.samples.embeddings;

import static java.util.stream.Collectors.joining;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.TypeRegistry;
import com.google.protobuf.util.JsonFormat;
import io.envoyproxy.envoy.config.bootstrap.v3.Bootstrap;
import io.envoyproxy.envoy.config.cluster.v3.Cluster;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor;
import io.envoyproxy.envoy.extensions.filters.http.router.v3.Router;
import io.envoyproxy.envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;
import io.envoyproxy.envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
import io.envoyproxy.envoy.extensions.upstreams.http.v3.HttpProtocolOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Parses Envoy's configuration into Envoy's own messages; an unknown field is an error. */
record EnvoyConfiguration(Bootstrap bootstrap) {

  private static final TypeRegistry TYPES =
      TypeRegistry.newBuilder()
          .add(HttpConnectionManager.getDescriptor())
          .add(ExternalProcessor.getDescriptor())
          .add(Router.getDescriptor())
          .add(HttpProtocolOptions.getDescriptor())
          .build();

  static EnvoyConfiguration read(Path yaml) throws IOException {
    return parse(Files.readString(yaml));
  }

  static EnvoyConfiguration parse(String yaml) throws InvalidProtocolBufferException {
    Object tree = new Load(LoadSettings.builder().build()).loadFromString(yaml);
    Bootstrap.Builder bootstrap = Bootstrap.newBuilder();
    JsonFormat.parser().usingTypeRegistry(TYPES).merge(json(tree), bootstrap);
    return new EnvoyConfiguration(bootstrap.build());
  }

  /** Converts YAML to the JSON that Envoy's messages are parsed from. */
  private static String json(Object tree) {
    return switch (tree) {
      case Map<?, ?> map ->
          map.entrySet().stream()
              .map(entry -> quoted(entry.getKey()) + ":" + json(entry.getValue()))
              .collect(joining(",", "{", "}"));
      case List<?> list ->
          list.stream().map(EnvoyConfiguration::json).collect(joining(",", "[", "]"));
      case String text -> quoted(text);
      default -> String.valueOf(tree);
    };
  }

  private static String quoted(Object text) {
    return '"' + String.valueOf(text).replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  HttpConnectionManager connectionManager() throws InvalidProtocolBufferException {
    Any filter =
        bootstrap
            .getStaticResources()
            .getListeners(0)
            .getFilterChains(0)
            .getFilters(0)
            .getTypedConfig();
    return filter.unpack(HttpConnectionManager.class);
  }

  ExternalProcessor processor() throws InvalidProtocolBufferException {
    for (HttpFilter filter : connectionManager().getHttpFiltersList()) {
      if (filter.getTypedConfig().is(ExternalProcessor.class)) {
        return filter.getTypedConfig().unpack(ExternalProcessor.class);
      }
    }
    throw new AssertionError("no filter calls an external processor");
  }

  Cluster cluster(String name) {
    return bootstrap.getStaticResources().getClustersList().stream()
        .filter(cluster -> cluster.getName().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError("there is no cluster " + name));
  }
}
