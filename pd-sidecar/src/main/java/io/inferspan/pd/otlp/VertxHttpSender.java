package io.inferspan.pd.otlp;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.Compressor;
import io.opentelemetry.sdk.common.export.HttpResponse;
import io.opentelemetry.sdk.common.export.HttpSender;
import io.opentelemetry.sdk.common.export.HttpSenderConfig;
import io.opentelemetry.sdk.common.export.MessageWriter;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.RequestOptions;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends messages as HTTP/1.1 POST requests. */
final class VertxHttpSender implements HttpSender {

  private static final Set<Integer> PASSING = Set.of(429, 502, 503, 504);

  private final Collector collector;
  private final String contentType;
  private final @Nullable Compressor compressor;
  private final Supplier<Map<String, List<String>>> headers;

  VertxHttpSender(HttpSenderConfig config) {
    this.collector =
        new Collector(CollectorSettings.of(config), reply -> PASSING.contains(reply.status()));
    this.contentType = config.getContentType();
    this.compressor = config.getCompressor();
    this.headers = config.getHeadersSupplier();
  }

  @Override
  public void send(
      MessageWriter message, Consumer<HttpResponse> onResponse, Consumer<Throwable> onError) {
    try {
      Buffer body = MessageBody.plain(message, compressor);
      collector.call(request(), body, reply -> tell(reply, onResponse, onError), onError);
    } catch (IOException | RuntimeException e) {
      onError.accept(e);
    }
  }

  private static void tell(
      CollectorReply reply, Consumer<HttpResponse> onResponse, Consumer<Throwable> onError) {
    if (reply.truncated()) {
      onError.accept(new IOException("The collector's answer is larger than allowed"));
    } else {
      onResponse.accept(Reply.of(reply));
    }
  }

  private RequestOptions request() {
    RequestOptions request =
        collector.request(headers.get()).putHeader("content-type", contentType);
    return compressor == null
        ? request
        : request.putHeader("content-encoding", compressor.getEncoding());
  }

  @Override
  public CompletableResultCode shutdown() {
    return collector.shutdown();
  }

  @SuppressWarnings("ArrayRecordComponent") // The SPI wants an array; nobody compares replies.
  private record Reply(int status, String message, byte[] body) implements HttpResponse {

    static Reply of(CollectorReply reply) {
      String message = reply.message();
      return new Reply(reply.status(), message == null ? "" : message, reply.body().getBytes());
    }

    @Override
    public int getStatusCode() {
      return status;
    }

    @Override
    public String getStatusMessage() {
      return message;
    }

    @Override
    public byte[] getResponseBody() {
      return body;
    }
  }
}
