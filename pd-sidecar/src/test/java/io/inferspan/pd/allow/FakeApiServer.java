package io.inferspan.pd.allow;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A Kubernetes API server over a real socket, reduced to what one pool and its pods need: lists,
 * chunked watches from a version, bookmarks, and errors during a watch or in place of one.
 */
public final class FakeApiServer implements AutoCloseable {
  final List<String> requests = new CopyOnWriteArrayList<>();
  final List<String> tokens = new CopyOnWriteArrayList<>();
  volatile int status = 200;
  volatile boolean garbled;
  volatile boolean watchesRefused410;

  private final Map<String, Stored> pods = new TreeMap<>();
  private final Map<String, Stored> pools = new TreeMap<>();
  private final List<Watcher> watchers = new CopyOnWriteArrayList<>();
  private final Map<HttpConnection, Boolean> connections = new ConcurrentHashMap<>();
  private final HttpServer server;
  private long version = 100;

  private record Stored(String json, Map<String, String> labels, long version) {}

  private record Watcher(
      HttpServerResponse response, boolean ofPools, Map<String, String> labels) {}

  public FakeApiServer(Vertx vertx) {
    this(vertx, new HttpServerOptions().setHost("127.0.0.1").setPort(0));
  }

  FakeApiServer(Vertx vertx, HttpServerOptions options) {
    server = vertx.createHttpServer(options).requestHandler(this::answer);
    server.connectionHandler(
        connection -> {
          connections.put(connection, true);
          connection.closeHandler(_ -> connections.remove(connection));
        });
    server.listen().await();
  }

  /** Returns the settings to connect to it. */
  public KubernetesApi api() {
    return new KubernetesApi(URI.create("http://127.0.0.1:" + port()), () -> "secret-token", null);
  }

  int port() {
    return server.actualPort();
  }

  int connections() {
    return connections.size();
  }

  long watches(String part) {
    return requests.stream().filter(r -> r.contains("watch=true") && r.contains(part)).count();
  }

  long lists(String part) {
    return requests.stream().filter(r -> !r.contains("watch=true") && r.contains(part)).count();
  }

  /** Adds or changes a pool that selects the pods with these labels. */
  public void putPool(String name, Map<String, String> labels) {
    String selector = "{\"matchLabels\":" + json(labels) + "}";
    put(pools, name, "{%s,\"spec\":{\"selector\":" + selector + ",\"targetPorts\":[]}}", Map.of());
  }

  void putOldPool(String name, Map<String, String> labels) {
    put(pools, name, "{%s,\"spec\":{\"selector\":" + json(labels) + "}}", Map.of());
  }

  /** Adds or changes a running pod. */
  public void putPod(String name, String ip, Map<String, String> labels) {
    putPod(name, ip, labels, "Running");
  }

  void putPod(String name, String ip, Map<String, String> labels, String phase) {
    String conditions = "\"conditions\":[{\"type\":\"Ready\",\"lastProbeTime\":null}]";
    String ips = "\"podIP\":\"" + ip + "\",\"podIPs\":[{\"ip\":\"" + ip + "\"}]";
    String state = "\"status\":{\"phase\":\"" + phase + "\"," + conditions + "," + ips + "}";
    String spec = "\"spec\":{\"containers\":[{\"name\":\"vllm\",\"ports\":[{\"x\":8000}]}]}";
    put(pods, name, "{%s," + spec + "," + state + "}", labels);
  }

  /** Removes a pod. */
  public synchronized void deletePod(String name) {
    Stored stored = Objects.requireNonNull(pods.remove(name));
    version++;
    say(false, stored.labels(), "DELETED", stored.json());
  }

  synchronized void deletePool(String name) {
    Stored stored = Objects.requireNonNull(pools.remove(name));
    version++;
    say(true, Map.of(), "DELETED", stored.json());
  }

  /** Tells all watches that their version is too old. */
  synchronized void expireWatches() {
    String gone = "{\"kind\":\"Status\",\"metadata\":{},\"status\":\"Failure\",\"code\":410}";
    watchers.forEach(
        w -> {
          w.response().write("{\"type\":\"ERROR\",\"object\":" + gone + "}\n");
          w.response().end();
        });
    watchers.clear();
  }

  synchronized void bookmark() {
    version += 50;
    String meta = "{\"metadata\":{\"resourceVersion\":\"" + version + "\"}}";
    watchers.forEach(w -> w.response().write("{\"type\":\"BOOKMARK\",\"object\":" + meta + "}\n"));
  }

  synchronized void endWatches() {
    watchers.forEach(w -> w.response().end());
    watchers.clear();
  }

  synchronized void cutConnections() {
    watchers.clear();
    connections.keySet().forEach(HttpConnection::close);
  }

  synchronized long version() {
    return version;
  }

  private synchronized void put(
      Map<String, Stored> objects, String name, String body, Map<String, String> labels) {
    version++;
    String meta =
        "\"metadata\":{\"name\":\"%s\",\"namespace\":\"models\",\"resourceVersion\":\"%d\","
                .formatted(name, version)
            + "\"ownerReferences\":[{\"name\":\"owner\"}],\"labels\":"
            + json(labels)
            + "}";
    Stored before = objects.get(name);
    Stored stored = new Stored(body.formatted(meta), labels, version);
    objects.put(name, stored);
    say(objects.equals(pools), labels, before == null ? "ADDED" : "MODIFIED", stored.json());
  }

  private void say(boolean ofPools, Map<String, String> labels, String type, String object) {
    String line = "{\"type\":\"" + type + "\",\"object\":" + object + "}\n";
    for (Watcher watcher : watchers) {
      if (watcher.ofPools() == ofPools && matches(watcher.labels(), labels)) {
        // In two pieces, as on a real network.
        watcher.response().write(line.substring(0, line.length() / 2));
        watcher.response().write(line.substring(line.length() / 2));
      }
    }
  }

  private synchronized void answer(HttpServerRequest request) {
    requests.add(request.uri());
    tokens.add(String.valueOf(request.getHeader("authorization")));
    HttpServerResponse response = request.response();
    boolean watch = "true".equals(request.getParam("watch"));
    int code = watch && watchesRefused410 ? 410 : status;
    if (code != 200) {
      response.setStatusCode(code).end("{\"kind\":\"Status\",\"code\":" + code + "}");
      return;
    }
    boolean ofPools = request.uri().contains("/inferencepools?");
    Map<String, String> labels = labels(request.getParam("labelSelector"));
    if (watch) {
      watch(request, ofPools, labels);
    } else {
      response.end(list(ofPools ? pools : pods, labels));
    }
  }

  private void watch(HttpServerRequest request, boolean ofPools, Map<String, String> labels) {
    HttpServerResponse response = request.response().setChunked(true);
    long since = Long.parseLong(request.getParam("resourceVersion"));
    response.writeHead();
    watchers.add(new Watcher(response, ofPools, labels));
    for (Stored stored : (ofPools ? pools : pods).values()) {
      if (stored.version() > since && matches(labels, stored.labels())) {
        response.write("{\"type\":\"MODIFIED\",\"object\":" + stored.json() + "}\n");
      }
    }
  }

  private Buffer list(Map<String, Stored> objects, Map<String, String> labels) {
    String items =
        objects.values().stream()
            .filter(stored -> matches(labels, stored.labels()))
            .map(Stored::json)
            .collect(Collectors.joining(","));
    String list =
        "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"%d\"},\"items\":[%s]}"
            .formatted(version, items);
    return Buffer.buffer(garbled ? list.substring(0, 15) + "]]" : list);
  }

  private static boolean matches(Map<String, String> selector, Map<String, String> labels) {
    return labels.entrySet().containsAll(selector.entrySet());
  }

  private static Map<String, String> labels(@Nullable String selector) {
    Map<String, String> labels = new TreeMap<>();
    if (selector != null) {
      for (String term : selector.split(",", -1)) {
        labels.put(term.substring(0, term.indexOf('=')), term.substring(term.indexOf('=') + 1));
      }
    }
    return labels;
  }

  private static String json(Map<String, String> labels) {
    return labels.entrySet().stream()
        .map(e -> "\"" + e.getKey() + "\":\"" + e.getValue() + "\"")
        .collect(Collectors.joining(",", "{", "}"));
  }

  @Override
  public void close() {
    server.close().await();
  }
}
