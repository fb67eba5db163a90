package io.inferspan.gateway.vertx;

import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.UpstreamAttempt;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;

/** A gateway as a user writes one by hand: it tries engines in turn and relays the first answer. */
final class RelayingGateway implements BiConsumer<HttpServerRequest, GatewayRequest> {

  private static final List<String> ONE_HOP =
      List.of("connection", "transfer-encoding", "keep-alive", "host");
  private static final int UNAVAILABLE = 503;

  private final HttpClient client;
  private final List<Integer> enginePorts;

  RelayingGateway(HttpClient client, List<Integer> enginePorts) {
    this.client = client;
    this.enginePorts = enginePorts;
  }

  @Override
  public void accept(HttpServerRequest request, GatewayRequest live) {
    live.queued();
    Buffer body = Buffer.buffer();
    VertxGateway.asking(live, request)
        .handler(body::appendBuffer)
        .endHandler(
            end -> {
              live.dequeued();
              attempt(new Turn(request, live, body), 0);
            });
  }

  private record Turn(HttpServerRequest request, GatewayRequest live, Buffer body) {}

  private void attempt(Turn turn, int number) {
    int port = enginePorts.get(number);
    boolean isLast = number == enginePorts.size() - 1;
    UpstreamAttempt attempt = turn.live().attempt("127.0.0.1", port);
    HttpServerRequest request = turn.request();
    client
        .request(request.method(), port, "127.0.0.1", request.uri())
        .compose(
            call -> {
              copy(request.headers(), call.headers());
              VertxGateway.calling(attempt, call);
              request.response().closeHandler(gone -> call.reset());
              return call.send(turn.body());
            })
        .compose(VertxGateway::requireFinal)
        .onSuccess(
            answer -> {
              if (answer.statusCode() == UNAVAILABLE && !isLast) {
                VertxGateway.answering(attempt, answer)
                    .endHandler(end -> attempt(turn, number + 1))
                    .resume();
              } else {
                relay(attempt, answer, request.response());
              }
            })
        .onFailure(
            cause -> {
              attempt.fail(cause);
              if (!isLast) {
                attempt(turn, number + 1);
              } else if (!request.response().closed()) {
                request.response().setStatusCode(502).end();
              }
            });
  }

  private static void relay(
      UpstreamAttempt attempt, HttpClientResponse answer, HttpServerResponse response) {
    HttpClientRequest call = answer.request();
    response.setStatusCode(answer.statusCode());
    copy(answer.headers(), response.headers());
    if (!response.headers().contains("content-length")) {
      response.setChunked(true);
    }
    VertxGateway.answering(attempt, answer)
        .pipe()
        .endOnFailure(false)
        .to(response)
        .onFailure(
            broken -> {
              call.reset();
              response.reset();
            });
  }

  private static void copy(MultiMap from, MultiMap to) {
    from.forEach(
        header -> {
          if (!ONE_HOP.contains(header.getKey().toLowerCase(Locale.ROOT))) {
            to.add(header.getKey(), header.getValue());
          }
        });
  }
}
