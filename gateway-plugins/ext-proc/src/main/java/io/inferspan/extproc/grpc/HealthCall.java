package io.inferspan.extproc.grpc;

import com.google.protobuf.InvalidProtocolBufferException;
import io.inferspan.extproc.proto.Envoy;
import io.inferspan.extproc.wire.MalformedMessageException;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * One call of {@code grpc.health.v1.Health/Check}, as made by Kubernetes and Envoy.
 *
 * <p>Liveness is always {@code SERVING}. Readiness is {@code SERVING} while the list of endpoints
 * is known, even if it is empty, because clients then get an error response with a reason.
 */
public final class HealthCall implements GrpcCall.Receiver {

  /** The path of the method. */
  public static final String PATH = "/grpc.health.v1.Health/Check";

  /** The maximum size of a request, which contains only a service name. */
  public static final int MAX_MESSAGE_BYTES = 1024;

  private static final String LIVENESS = "liveness";
  private static final int SERVING = 1;
  private static final int NOT_SERVING = 2;

  /** The service names for readiness, including those of llm-d's probes. */
  private static final Set<String> READINESS =
      Set.of("", "envoy.service.ext_proc.v3.ExternalProcessor", "readiness");

  private final GrpcCall call;
  private final BooleanSupplier serves;

  /** Creates a call that reports whether {@code serves}. */
  public HealthCall(GrpcCall call, BooleanSupplier serves) {
    this.call = call;
    this.serves = serves;
  }

  @Override
  public void receive(ByteBuffer message) throws MalformedMessageException {
    String service = service(message);
    if (service.equals(LIVENESS)) {
      answer(true);
    } else if (READINESS.contains(service)) {
      answer(serves.getAsBoolean());
    } else {
      call.end(GrpcCall.NOT_FOUND, "there is no such service");
    }
  }

  private static String service(ByteBuffer message) throws MalformedMessageException {
    try {
      return Envoy.HealthCheckRequest.parseFrom(message).getService();
    } catch (InvalidProtocolBufferException e) {
      throw new MalformedMessageException("the message is not a HealthCheckRequest");
    }
  }

  private void answer(boolean serving) {
    call.send(
        Envoy.HealthCheckResponse.newBuilder().setStatus(serving ? SERVING : NOT_SERVING).build());
    call.end(GrpcCall.OK, "");
  }
}
