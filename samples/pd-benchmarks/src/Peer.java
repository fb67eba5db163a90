import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** A server under test, and how to start it. */
enum Peer {
  NGINX("nginx"),
  HAPROXY("haproxy"),
  NGINX_LUA("nginx-lua"),
  GO("go"),
  EPOLL("sidecar epoll"),
  IO_URING("sidecar io_uring"),
  TRACED("sidecar epoll, tracing");

  static final Path SIDECAR = Path.of(System.getProperty("bench.sidecar"));
  private static final String AS_IN_THE_DOCKERFILE =
      "-Xmx384m -XX:MaxDirectMemorySize=256m -XX:+UseSerialGC -XX:+UseCompactObjectHeaders"
          + " -Djdk.reflect.useNativeAccessorOnly=true -Dio.netty.noUnsafe=false"
          + " --sun-misc-unsafe-memory-access=allow";
  private static final Path NGINX_MODULES = Path.of("/usr/lib/nginx/modules");
  private static final String INSTALL =
      "apt-get install nginx-light libnginx-mod-http-lua lua-cjson haproxy golang-go";

  final String label;

  Peer(String label) {
    this.label = label;
  }

  /** Returns in one sentence what is missing to run it, or null. */
  String missing() {
    return switch (this) {
      case NGINX -> without("nginx", Workbench.has("nginx"));
      case HAPROXY -> without("haproxy", Workbench.has("haproxy"));
      case GO -> without("go", Workbench.has("go"));
      case NGINX_LUA -> without("nginx with Lua and cjson", Workbench.has("nginx") && hasLua());
      case EPOLL, IO_URING, TRACED ->
          Files.exists(SIDECAR)
              ? null
              : SIDECAR + " is missing: build it with mvn -Dquick -pl pd-sidecar -am package.";
    };
  }

  private static String without(String program, boolean present) {
    return present ? null : program + " is missing: install all peers with " + INSTALL + ".";
  }

  private static boolean hasLua() {
    return Files.exists(NGINX_MODULES.resolve("ngx_http_lua_module.so"))
        && (Files.exists(Path.of("/usr/lib/x86_64-linux-gnu/lua/5.1/cjson.so"))
            || Files.exists(Path.of("/usr/lib/aarch64-linux-gnu/lua/5.1/cjson.so")));
  }

  boolean isJvm() {
    return this == EPOLL || this == IO_URING || this == TRACED;
  }

  /** Starts the server on the server core, in front of the upstream. */
  Server start(Workbench bench, Upstream upstream) throws IOException {
    int port = Workbench.freePort();
    Server server =
        switch (this) {
          case NGINX -> startNginx("nginx.conf", bench, port, upstream);
          case NGINX_LUA -> startNginx("nginx-lua.conf", bench, port, upstream);
          case HAPROXY -> startHaproxy(bench, port, upstream);
          case GO -> startGo(bench, port, upstream);
          case EPOLL ->
              startSidecar(bench, port, upstream, List.of(), List.of("--transport=epoll"));
          case IO_URING ->
              startSidecar(bench, port, upstream, List.of(), List.of("--transport=io_uring"));
          case TRACED ->
              startSidecar(
                  bench, port, upstream, List.of(), List.of("--transport=epoll", "--tracing"));
        };
    return server.awaitAnswer("/v1/models");
  }

  private Server startNginx(String template, Workbench bench, int port, Upstream upstream)
      throws IOException {
    Path folder = Files.createTempDirectory(bench.folder(), "nginx");
    Map<String, String> values =
        Map.of(
            "DIR", folder.toString(),
            "PORT", "" + port,
            "DECODE", "" + upstream.port(),
            "PEERS", Workbench.HOME.resolve("peers").toString(),
            "MODULES", NGINX_MODULES.toString());
    Path configuration = bench.configure(template, folder.resolve("nginx.conf"), values);
    List<String> command =
        List.of("nginx", "-e", "stderr", "-p", "" + folder, "-c", "" + configuration);
    return bench.startPinned(
        label, port, command, Map.of("PATH", System.getenv("PATH") + ":/usr/sbin"));
  }

  private Server startHaproxy(Workbench bench, int port, Upstream upstream) throws IOException {
    Map<String, String> values = Map.of("PORT", "" + port, "DECODE", "" + upstream.port());
    Path target = bench.folder().resolve("haproxy-" + port + ".cfg");
    Path configuration = bench.configure("haproxy.cfg", target, values);
    List<String> command = List.of("haproxy", "-db", "-f", "" + configuration);
    return bench.startPinned(
        label, port, command, Map.of("PATH", System.getenv("PATH") + ":/usr/sbin"));
  }

  private Server startGo(Workbench bench, int port, Upstream upstream) throws IOException {
    String program = bench.tool("go-proxy");
    if (!Files.exists(Path.of(program))) {
      bench.build("the Go peer", "go", "build", "-o", program, Workbench.HOME + "/peers/proxy.go");
    }
    return bench.startPinned(
        label, port, List.of(program, "" + port, "" + upstream.port()), Map.of());
  }

  /** Returns the command that starts a sidecar's JVM. */
  static List<String> java() {
    List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java"));
    String flags = System.getenv().getOrDefault("SIDECAR_JAVA_FLAGS", AS_IN_THE_DOCKERFILE);
    command.addAll(Arrays.stream(flags.split(" ")).filter(flag -> !flag.isEmpty()).toList());
    return command;
  }

  /** Starts a sidecar with one event loop. It exports spans, if any, to the upstream, which also stands in for a collector.
   */
  static Server startSidecar(
      Workbench bench, int port, Upstream upstream, List<String> javaFlags, List<String> options)
      throws IOException {
    List<String> command = java();
    command.addAll(javaFlags);
    command.addAll(
        List.of(
            "-jar",
            SIDECAR.toString(),
            "--port=" + port,
            "--model-server-port=" + upstream.port()));
    command.addAll(List.of("--secure-proxy=false", "--event-loops=1"));
    command.addAll(options);
    Map<String, String> environment =
        Map.of(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "http://127.0.0.1:" + upstream.port(),
            "OTEL_EXPORTER_OTLP_PROTOCOL",
            "http/protobuf");
    return bench.startPinned("sidecar " + String.join(" ", options), port, command, environment);
  }
}
