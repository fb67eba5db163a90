package io.inferspan.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.grpc.ManagedChannel;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.inferspan.extproc.proto.Envoy.BodyMode;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A small proxy that acts like Envoy's filter towards an external processor: it uses another gRPC
 * library with the original message classes, and sends each request to its destination.
 */
public final class EnvoyStandIn implements AutoCloseable {

  /**
   * The configuration of the filter.
   *
   * @param request the mode in which request bodies are sent
   * @param response the mode in which response bodies are sent
   * @param tellsModes whether the first message contains the modes
   * @param allowsOverride whether the processor may override the modes
   * @param served the endpoint to report as the one that answered: empty for the chosen one, null
   *     to report none
   * @param subset the endpoints that may be picked; null for all
   */
  public record Setup(
      BodyMode request,
      BodyMode response,
      boolean tellsModes,
      boolean allowsOverride,
      @Nullable String served,
      @Nullable List<String> subset) {

    /** Returns a setup that sends bodies in these modes, and reports the modes. */
    public static Setup of(BodyMode request, BodyMode response) {
      return new Setup(request, response, true, true, null, null);
    }

    Setup leaving(List<String> endpoints) {
      return new Setup(request, response, tellsModes, allowsOverride, served, endpoints);
    }

    Setup silentAboutModes() {
      return new Setup(request, response, false, allowsOverride, served, subset);
    }

    /** Reports the chosen endpoint as the one that answered. */
    Setup tellingServed() {
      return tellingServed("");
    }

    /** Reports this endpoint as the one that answered. */
    Setup tellingServed(String authority) {
      return new Setup(request, response, tellsModes, allowsOverride, authority, subset);
    }
  }

  /**
   * The maximum number of recorded messages: enough for tests that inspect them, and little memory
   * for tests that send millions of bytes.
   */
  private static final int MAX_KEPT = 500;

  private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
  private final ManagedChannel channel;
  private final ExternalProcessorGrpc.ExternalProcessorStub processor;
  private final HttpClient upstream;
  private final HttpServer server;
  private final Queue<ProcessingRequest> sent = new ConcurrentLinkedQueue<>();
  private final Queue<ProcessingResponse> received = new ConcurrentLinkedQueue<>();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private final Setup setup;

  /** Starts a proxy before the processor at this port. */
  public EnvoyStandIn(int processorPort, Setup setup) {
    this.setup = setup;
    this.channel =
        OkHttpChannelBuilder.forAddress("127.0.0.1", processorPort)
            .usePlaintext()
            .directExecutor()
            .build();
    this.processor = ExternalProcessorGrpc.newStub(channel);
    this.upstream = vertx.createHttpClient(new HttpClientOptions());
    this.server =
        vertx
            .createHttpServer(new HttpServerOptions().setHttp2ClearTextEnabled(true))
            .requestHandler(request -> new EnvoyStream(this, request).begin());
    await(server.listen(0, "127.0.0.1"));
  }

  /** Returns the port for clients. */
  public int port() {
    return server.actualPort();
  }

  Setup setup() {
    return setup;
  }

  Vertx vertx() {
    return vertx;
  }

  HttpClient upstream() {
    return upstream;
  }

  ManagedChannel channel() {
    return channel;
  }

  ExternalProcessorGrpc.ExternalProcessorStub processor() {
    return processor;
  }

  /** Returns the first messages sent to the processor, of all exchanges. */
  List<ProcessingRequest> sent() {
    return List.copyOf(sent);
  }

  /** Returns the processor's first responses, of all exchanges. */
  List<ProcessingResponse> received() {
    return List.copyOf(received);
  }

  /** Returns the errors that ended streams. */
  List<Throwable> failures() {
    return List.copyOf(failures);
  }

  void record(ProcessingRequest request) {
    if (sent.size() < MAX_KEPT) {
      sent.add(request);
    }
  }

  void record(ProcessingResponse response) {
    if (received.size() < MAX_KEPT) {
      received.add(response);
    }
  }

  void record(Throwable failure) {
    failures.add(failure);
  }

  @Override
  public void close() {
    await(server.close());
    channel.shutdownNow();
    try {
      // The final messages of cancelled streams still need the event loop.
      channel.awaitTermination(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    await(vertx.close());
  }

  private static <T> T await(Future<T> future) {
    try {
      return future.toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException("the stand-in for Envoy did not start or stop", e);
    }
  }
}
