package io.inferspan.pd.allow;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.PemTrustOptions;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Sends requests to one API server, with the current token. */
record ApiClient(Vertx vertx, KubernetesApi api, HttpClient client) {
  private static final int CONNECT_TIMEOUT_MILLIS = 10_000;

  /**
   * Creates a client for {@code api}.
   *
   * @param silence the time without data after which a connection is closed
   */
  static ApiClient of(Vertx vertx, KubernetesApi api, Duration silence) {
    HttpClientOptions options =
        new HttpClientOptions()
            .setConnectTimeout(CONNECT_TIMEOUT_MILLIS)
            .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
            .setReadIdleTimeout(Math.toIntExact(silence.toMillis()));
    if (api.authority() != null) {
      options.setTrustOptions(new PemTrustOptions().addCertPath(api.authority().toString()));
    }
    return new ApiClient(vertx, api, vertx.createHttpClient(options));
  }

  Future<HttpClientResponse> get(String uri) {
    RequestOptions options = new RequestOptions().setAbsoluteURI(api.base() + uri);
    // Reading the token reads a file.
    return vertx
        .executeBlocking(() -> api.token().get())
        .compose(token -> client.request(options).compose(request -> send(request, token)));
  }

  private static Future<HttpClientResponse> send(
      HttpClientRequest request, @Nullable String token) {
    request.putHeader("accept", "application/json").putHeader("user-agent", "inferspan-pd-sidecar");
    if (token != null && !token.isEmpty()) {
      request.putHeader("authorization", "Bearer " + token);
    }
    return request.send();
  }
}
