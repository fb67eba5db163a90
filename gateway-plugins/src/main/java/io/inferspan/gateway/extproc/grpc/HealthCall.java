package io.inferspan.gateway.extproc.grpc;

import io.inferspan.gateway.extproc.wire.HealthMessages;
import io.inferspan.gateway.extproc.wire.MalformedMessageException;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * One question of {@code grpc.health.v1.Health/Check}, as Kubernetes and Envoy ask it.
 *
 * <p>Whoever answers is alive. It serves as long as it can tell what endpoints there are: without
 * any, it still says so to clients better than a gateway that has no picker.
 */
public final class HealthCall implements GrpcCall.Receiver {

  /** The path of the method. */
  public static final String PATH = "/grpc.health.v1.Health/Check";

  /** A question is a name. */
  public static final int MAX_MESSAGE_BYTES = 1024;

  private static final String LIVENESS = "liveness";

  /** The whole, the service itself, and what llm-d's probes ask for. */
  private static final Set<String> READINESS =
      Set.of("", "envoy.service.ext_proc.v3.ExternalProcessor", "readiness");

  private final GrpcCall call;
  private final BooleanSupplier serves;

  /** A question that is answered by whether {@code serves}. */
  public HealthCall(GrpcCall call, BooleanSupplier serves) {
    this.call = call;
    this.serves = serves;
  }

  @Override
  public void receive(ByteBuffer message) throws MalformedMessageException {
    String service = HealthMessages.read(message);
    if (service.equals(LIVENESS)) {
      answer(true);
    } else if (READINESS.contains(service)) {
      answer(serves.getAsBoolean());
    } else {
      call.end(GrpcCall.NOT_FOUND, "there is no such service");
    }
  }

  private void answer(boolean serving) {
    call.send(HealthMessages.answer(serving));
    call.end(GrpcCall.OK, "");
  }

  @Override
  public boolean refuses(OversizedMessageException message) {
    return false;
  }

  @Override
  public boolean isBusy() {
    return false;
  }

  @Override
  public void closed(int status) {
    // Nothing of the question is left.
  }
}
