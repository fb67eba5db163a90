package io.inferspan.pd.rig;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.pd.SidecarServer;
import io.inferspan.pd.config.ConfigException;
import io.inferspan.pd.config.Invocation;
import io.inferspan.pd.config.Settings;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.net.Loops;
import io.inferspan.testing.SpanRecord;
import io.opentelemetry.api.OpenTelemetry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/** A sidecar on a free port, in this process, with an HTTP client for it. */
public final class SidecarRig implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Loops loops;
  private final SidecarServer server;
  private final HttpClient client;
  private final String scheme;

  private SidecarRig(Loops loops, SidecarServer server, boolean secure) {
    this.loops = loops;
    this.server = server;
    this.scheme = secure ? "https" : "http";
    this.client =
        HttpClient.newBuilder().connectTimeout(PATIENCE).sslContext(trustingAnybody()).build();
  }

  /** Returns a builder of a sidecar in front of a decoder on a port, without TLS. */
  public static Builder before(int modelServerPort) {
    return new Builder(modelServerPort);
  }

  /** Builder for a sidecar under test. */
  public static final class Builder {
    private final List<String> args = new ArrayList<>();
    private final Map<String, String> env = new HashMap<>();
    private Telemetry telemetry = Telemetry.using(OpenTelemetry.noop());

    private Builder(int modelServerPort) {
      args.add("--model-server-port=" + modelServerPort);
      args.add("--secure-proxy=false");
      args.add("--event-loops=1");
    }

    /** Adds flags; a later one wins. */
    public Builder with(String... flags) {
      args.addAll(List.of(flags));
      return this;
    }

    public Builder env(String name, String value) {
      env.put(name, value);
      return this;
    }

    /** Records spans in a test's recorder. */
    public Builder tracedBy(OpenTelemetry recorder, SpanNaming names) {
      return tracedBy(
          Telemetry.using(recorder, TelemetryOptions.builder().spanNaming(names).build()));
    }

    /** Uses this telemetry, and does not close it. */
    public Builder tracedBy(Telemetry given) {
      this.telemetry = given;
      return this;
    }

    /** Starts it on a free port. */
    public SidecarRig start() {
      SidecarConfig config = config();
      Loops loops = SidecarServer.loops(config);
      try {
        SidecarServer server = SidecarServer.start(config, loops, telemetry);
        return new SidecarRig(loops, server, config.get(Settings.SECURE_PROXY));
      } catch (IOException e) {
        loops.close();
        throw new UncheckedIOException(e);
      } catch (RuntimeException e) {
        loops.close();
        throw e;
      }
    }

    private SidecarConfig config() {
      if (args.stream().noneMatch(arg -> arg.startsWith("--port="))) {
        args.add("--port=" + FreePort.next());
      }
      try {
        return switch (Invocation.parse(args, env)) {
          case Invocation.Run run -> run.config();
          case Invocation other -> throw new IllegalStateException("not a run: " + other);
        };
      } catch (ConfigException e) {
        throw new IllegalArgumentException(e.getMessage(), e);
      }
    }
  }

  private static SSLContext trustingAnybody() {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[] {new Anybody()}, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("no TLS here", e);
    }
  }

  /** Trusts every certificate, for any name. */
  private static final class Anybody extends X509ExtendedTrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }

  public int port() {
    return server.port();
  }

  public SidecarServer server() {
    return server;
  }

  /** The threads for work that would block an event loop. */
  public Executor workers() {
    return loops.workers();
  }

  /** Returns a gauge, even if no worker thread is free for a scrape. */
  public double gauge(String name, String... tags) {
    return server.metrics().registry().get("inferspan_pd_" + name).tags(tags).gauge().value();
  }

  public URI uri(String path) {
    return URI.create(scheme + "://localhost:" + port() + path);
  }

  /** Posts JSON; headers are given as name, value, name, value. */
  public HttpResponse<String> post(String path, String json, String... headers) {
    return send(request(path, headers).POST(HttpRequest.BodyPublishers.ofString(json)));
  }

  /** Sends a GET request; headers are given as name, value, name, value. */
  public HttpResponse<String> get(String path, String... headers) {
    return send(request(path, headers).GET());
  }

  /** Returns a builder of a request to the sidecar. */
  public HttpRequest.Builder request(String path, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri(path))
            .timeout(PATIENCE)
            .version(HttpClient.Version.HTTP_1_1)
            .header("content-type", "application/json");
    return headers.length == 0 ? request : request.headers(headers);
  }

  public HttpResponse<String> send(HttpRequest.Builder request) {
    try {
      return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  public HttpClient client() {
    return client;
  }

  /** Returns the only span of that name in {@code spans}. */
  public static SpanRecord only(List<SpanRecord> spans, String name) {
    List<SpanRecord> named = spans.stream().filter(span -> span.name().equals(name)).toList();
    if (named.size() != 1) {
      throw new AssertionError(named.size() + " spans are named " + name + " in " + spans);
    }
    return named.getFirst();
  }

  @Override
  public void close() {
    client.shutdownNow();
    server.close();
    loops.close();
  }
}
