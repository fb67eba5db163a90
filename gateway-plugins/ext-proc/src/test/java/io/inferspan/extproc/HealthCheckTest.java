package io.inferspan.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Int32Value;
import com.google.protobuf.StringValue;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Probes as Kubernetes and Envoy send them, by another library. */
final class HealthCheckTest extends ExtProcFixture {

  private static final int SERVING = 1;
  private static final int NOT_SERVING = 2;

  private final AtomicBoolean known = new AtomicBoolean(true);

  private ExtProcRig rig() throws Exception {
    return new ExtProcRig(
        ExtProcService.builder(
                gateway(),
                ExtProcRig.scheduler(),
                () -> {
                  if (known.get()) {
                    return List.of();
                  }
                  throw new IllegalStateException("no cluster");
                })
            .build(),
        DUPLEX);
  }

  /** The messages of a check are, on the wire, a wrapped string and a wrapped number. */
  private static int check(ExtProcRig rig, String method, String service) {
    MethodDescriptor<StringValue, Int32Value> check =
        MethodDescriptor.<StringValue, Int32Value>newBuilder()
            .setType(MethodType.UNARY)
            .setFullMethodName("grpc.health.v1.Health/" + method)
            .setRequestMarshaller(ProtoUtils.marshaller(StringValue.getDefaultInstance()))
            .setResponseMarshaller(ProtoUtils.marshaller(Int32Value.getDefaultInstance()))
            .build();
    return ClientCalls.blockingUnaryCall(
            rig.envoy().channel(),
            check,
            CallOptions.DEFAULT.withDeadlineAfter(10, TimeUnit.SECONDS),
            StringValue.of(service))
        .getValue();
  }

  @Test
  void pickerThatKnowsItsEndpoints_serves_evenIfThereAreNone() throws Exception {
    try (ExtProcRig rig = rig()) {
      for (String service :
          List.of("", "envoy.service.ext_proc.v3.ExternalProcessor", "readiness", "liveness")) {
        assertThat(check(rig, "Check", service)).as(service).isEqualTo(SERVING);
      }
    }
  }

  @Test
  void pickerThatDoesNot_isAliveAndNotReady() throws Exception {
    known.set(false);
    try (ExtProcRig rig = rig()) {
      assertThat(check(rig, "Check", "")).isEqualTo(NOT_SERVING);
      assertThat(check(rig, "Check", "readiness")).isEqualTo(NOT_SERVING);
      assertThat(check(rig, "Check", "liveness")).isEqualTo(SERVING);
      known.set(true);
      assertThat(check(rig, "Check", "")).isEqualTo(SERVING);
    }
  }

  @Test
  void otherServicesAndMethods_areNotThere() throws Exception {
    try (ExtProcRig rig = rig()) {
      assertThatThrownBy(() -> check(rig, "Check", "other")).hasMessageContaining("NOT_FOUND");
      assertThatThrownBy(() -> check(rig, "Watch", "")).hasMessageContaining("UNIMPLEMENTED");
    }
  }
}
