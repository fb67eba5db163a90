package io.inferspan.extproc;

import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Tokenizer;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.extproc.grpc.GrpcCall;
import io.inferspan.extproc.grpc.HealthCall;
import io.inferspan.extproc.grpc.HeldBytes;
import io.inferspan.extproc.proto.Envoy.BodyMode;
import io.inferspan.extproc.wire.ProcessingRequest.Modes;
import io.inferspan.gateway.GatewayTracing;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint picker for Envoy, like llm-d's: the gRPC service {@code
 * envoy.service.ext_proc.v3.ExternalProcessor}. Envoy sends each request and its response to the
 * service, which picks the endpoint and records the request's span.
 *
 * <p>It is the request handler of a Vert.x HTTP/2 server, and also responds to health checks. If no
 * endpoint can serve a request, the client gets 503; if the request is rejected, 429.
 */
public final class ExtProcService implements Handler<HttpServerRequest> {

  /** The path of the gRPC method that Envoy calls. */
  public static final String PATH = "/envoy.service.ext_proc.v3.ExternalProcessor/Process";

  /** The maximum size of a message without its body: headers, metadata, attributes. */
  private static final int MAX_OTHER_BYTES = 1 << 20;

  final GatewayTracing tracing;
  final EndpointChoice choice;
  private final HeldBytes budget;
  private final int maxBodyBytes;
  final Modes defaultModes;
  final boolean overridesModes;
  final boolean sendsSessionTokens;
  final boolean addsServedEndpoint;

  private ExtProcService(Builder builder) {
    this.tracing = builder.tracing;
    this.choice =
        new EndpointChoice(
            builder.scheduler, builder.endpoints, builder.admission, builder.tokenizer);
    this.budget = new HeldBytes(builder.maxHeldBytes);
    this.maxBodyBytes = builder.maxBodyBytes;
    this.defaultModes = builder.defaultModes;
    this.overridesModes = builder.overridesModes;
    this.sendsSessionTokens = builder.sendsSessionTokens;
    this.addsServedEndpoint = builder.addsServedEndpoint;
  }

  /**
   * Creates a builder for a service.
   *
   * @param endpoints returns the available endpoints, for each request; it must not block
   */
  public static Builder builder(
      GatewayTracing tracing, Scheduler scheduler, Supplier<List<Endpoint>> endpoints) {
    return new Builder(tracing, scheduler, endpoints);
  }

  @Override
  public void handle(HttpServerRequest request) {
    if (!isGrpc(request)) {
      request.response().setStatusCode(415).end();
    } else if (isCompressed(request.getHeader("grpc-encoding"))) {
      refuse(request, "messages must be uncompressed");
    } else if (PATH.equals(request.path())) {
      int maxMessageBytes = maxBodyBytes + MAX_OTHER_BYTES;
      new GrpcCall(request, maxMessageBytes, budget, call -> new Exchange(this, call)).open();
    } else if (HealthCall.PATH.equals(request.path())) {
      new GrpcCall(
              request,
              HealthCall.MAX_MESSAGE_BYTES,
              budget,
              call -> new HealthCall(call, choice::isPossible))
          .open();
    } else {
      refuse(request, "there is no method at this path");
    }
  }

  private static boolean isGrpc(HttpServerRequest request) {
    String type = request.getHeader("content-type");
    return request.version() == HttpVersion.HTTP_2
        && request.method().equals(HttpMethod.POST)
        && type != null
        && type.startsWith("application/grpc");
  }

  private static boolean isCompressed(@Nullable String encoding) {
    return encoding != null && !encoding.equals("identity");
  }

  private static void refuse(HttpServerRequest request, String reason) {
    request
        .response()
        .putHeader("content-type", "application/grpc")
        .putHeader("grpc-status", Integer.toString(GrpcCall.UNIMPLEMENTED))
        .putHeader("grpc-message", reason)
        .end();
  }

  /** Returns the total size, in bytes, of messages being received and of buffered bodies. */
  public long heldBytes() {
    return budget.held();
  }

  HeldBody hold() {
    return new HeldBody(budget, maxBodyBytes);
  }

  /** Builder for {@link ExtProcService}. */
  public static final class Builder {

    private static final int DEFAULT_MAX_BODY_BYTES = 16 << 20;
    private static final int MAX_BODY_BYTES = 1 << 30;
    private static final long DEFAULT_MAX_HELD_BYTES = 256L << 20;

    private final GatewayTracing tracing;
    private final Scheduler scheduler;
    private final Supplier<List<Endpoint>> endpoints;
    private Admission admission = Admission.open();
    private @Nullable Tokenizer tokenizer;
    private int maxBodyBytes = DEFAULT_MAX_BODY_BYTES;
    private long maxHeldBytes = DEFAULT_MAX_HELD_BYTES;
    private Modes defaultModes =
        new Modes(BodyMode.FULL_DUPLEX_STREAMED, BodyMode.FULL_DUPLEX_STREAMED);
    private boolean overridesModes;
    private boolean sendsSessionTokens;
    private boolean addsServedEndpoint;

    private Builder(
        GatewayTracing tracing, Scheduler scheduler, Supplier<List<Endpoint>> endpoints) {
      this.tracing = tracing;
      this.scheduler = scheduler;
      this.endpoints = endpoints;
    }

    /** Sets which requests may be scheduled; all by default. */
    public Builder admission(Admission admission) {
      this.admission = admission;
      return this;
    }

    /** Sets the tokenizer of prompts, for scorers that need tokens; none by default. */
    public Builder tokenizer(Tokenizer tokenizer) {
      this.tokenizer = tokenizer;
      return this;
    }

    /**
     * Sets the size limit of a buffered request body; requests above it get 413. The default is 16
     * MiB.
     */
    public Builder maxBodyBytes(int bytes) {
      if (bytes < 1 || bytes > MAX_BODY_BYTES) {
        throw new IllegalArgumentException(
            "maxBodyBytes is " + bytes + ", but must be 1 to " + MAX_BODY_BYTES);
      }
      this.maxBodyBytes = bytes;
      return this;
    }

    /**
     * Sets the limit for the total size of all bodies that are being received or held; a request
     * above it gets 503. The default is 256 MiB. While an endpoint is picked, up to two copies of a
     * body exist that are not counted: the whole body, and the text that plugins hash.
     */
    public Builder maxHeldBytes(long bytes) {
      if (bytes < 1) {
        throw new IllegalArgumentException("maxHeldBytes is " + bytes + ", but must be 1 or more");
      }
      this.maxHeldBytes = bytes;
      return this;
    }

    /**
     * Assumes buffered request bodies and streamed response bodies if Envoy does not report its
     * body modes, as in older versions. By default, full duplex is assumed.
     */
    public Builder bufferedUnlessReported() {
      this.defaultModes = new Modes(BodyMode.BUFFERED, BodyMode.STREAMED);
      return this;
    }

    /**
     * Makes Envoy buffer request bodies and send response bodies, if it is configured with other
     * modes. Needs {@code allow_mode_override} in Envoy.
     */
    public Builder overrideModes() {
      this.overridesModes = true;
      return this;
    }

    /** Adds the token that {@code SessionAffinityScorer.byToken()} uses to responses. */
    public Builder sessionTokens() {
      this.sendsSessionTokens = true;
      return this;
    }

    /**
     * Adds {@code x-conformance-test-served-endpoint} to responses: the endpoint that answered, as
     * reported by Envoy. It reveals pod addresses to clients and is for tests.
     */
    public Builder servedEndpoint() {
      this.addsServedEndpoint = true;
      return this;
    }

    /** Builds the service. */
    public ExtProcService build() {
      if (scheduler.needsTokens() && tokenizer == null) {
        throw new IllegalArgumentException(
            "a scorer of the scheduler needs tokens, but the service has no tokenizer; set one"
                + " with tokenizer(…)");
      }
      return new ExtProcService(this);
    }
  }
}
