package io.inferspan.pd.allow;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.PemTrustOptions;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Sends requests to one API server, with the current token. */
final class ApiClient implements AutoCloseable {
  private static final int CONNECT_TIMEOUT_MILLIS = 10_000;

  private final Vertx vertx;
  private final KubernetesApi api;
  private final HttpClient client;

  /**
   * Creates a client for {@code api}.
   *
   * @param silence the time without data after which a connection is closed
   */
  ApiClient(Vertx vertx, KubernetesApi api, Duration silence) {
    this.vertx = vertx;
    this.api = api;
    HttpClientOptions options =
        new HttpClientOptions()
            .setConnectTimeout(CONNECT_TIMEOUT_MILLIS)
            .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
            .setReadIdleTimeout(Math.toIntExact(silence.toMillis()))
            .setSsl(api.tls());
    if (api.authority() != null) {
      options.setTrustOptions(new PemTrustOptions().addCertPath(api.authority().toString()));
    }
    this.client = vertx.createHttpClient(options);
  }

  Vertx vertx() {
    return vertx;
  }

  Future<HttpClientResponse> get(String uri) {
    // Reading the token reads a file.
    return vertx
        .executeBlocking(() -> api.token().get())
        .compose(token -> client.request(options(uri, token == null ? "" : token)))
        .compose(HttpClientRequest::send);
  }

  private RequestOptions options(String uri, String token) {
    RequestOptions options =
        new RequestOptions()
            .setMethod(HttpMethod.GET)
            .setHost(api.host())
            .setPort(api.port())
            .setURI(uri)
            .putHeader("accept", "application/json")
            .putHeader("user-agent", "inferspan-pd-sidecar");
    return token.isEmpty() ? options : options.putHeader("authorization", "Bearer " + token);
  }

  @Override
  public void close() {
    client.close();
  }
}
