package io.inferspan.extproc;

import io.inferspan.extproc.EnvoyStandIn.Setup;
import io.inferspan.extproc.proto.Envoy.BodyMode;
import io.inferspan.gateway.GatewayContract;
import io.inferspan.gateway.GatewayRig;
import io.inferspan.gateway.GatewayTracing;
import org.junit.jupiter.api.BeforeAll;

/** The service as most have Envoy ask it: requests buffered, answers streamed. */
final class BufferedExtProcTest extends GatewayContract {

  private static final Setup SETUP = Setup.of(BodyMode.BUFFERED, BodyMode.STREAMED);

  @BeforeAll
  static void warmUp() throws Exception {
    ExtProcRig.warmUp(SETUP);
  }

  @Override
  protected GatewayRig start(GatewayTracing gateway, int enginePort) throws Exception {
    return new ExtProcRig(ExtProcRig.service(gateway, enginePort).build(), SETUP);
  }

  @Override
  protected boolean seesWhoBreaksOff() {
    return false;
  }
}
