package io.inferspan.pd.otlp;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.Compressor;
import io.opentelemetry.sdk.common.export.GrpcResponse;
import io.opentelemetry.sdk.common.export.GrpcSender;
import io.opentelemetry.sdk.common.export.GrpcSenderConfig;
import io.opentelemetry.sdk.common.export.MessageWriter;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.RequestOptions;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends messages as unary gRPC calls. */
final class VertxGrpcSender implements GrpcSender {

  private final Collector collector;
  private final @Nullable Compressor compressor;
  private final Supplier<Map<String, List<String>>> headers;

  VertxGrpcSender(GrpcSenderConfig config) {
    this.collector = new Collector(CollectorSettings.of(config), GrpcReply::mayPass);
    this.compressor = config.getCompressor();
    this.headers = config.getHeadersSupplier();
  }

  @Override
  public void send(
      MessageWriter message, Consumer<GrpcResponse> onResponse, Consumer<Throwable> onError) {
    try {
      Buffer frame = MessageBody.grpcFrame(message, compressor);
      collector.call(request(), frame, reply -> onResponse.accept(GrpcReply.of(reply)), onError);
    } catch (IOException | RuntimeException e) {
      onError.accept(e);
    }
  }

  private RequestOptions request() {
    RequestOptions request =
        collector
            .request(headers.get())
            .putHeader("content-type", "application/grpc")
            .putHeader("te", "trailers")
            // Nobody reads the answer's message, so it need not be compressed.
            .putHeader("grpc-accept-encoding", "identity");
    return compressor == null
        ? request
        : request.putHeader("grpc-encoding", compressor.getEncoding());
  }

  @Override
  public CompletableResultCode shutdown() {
    return collector.shutdown();
  }
}
