package io.inferspan.gateway.netty;

import io.inferspan.gateway.GatewayContract;
import io.inferspan.gateway.GatewayRig;
import io.inferspan.gateway.GatewayTracing;

/** The handler of frames on streams of HTTP/2. */
final class NettyFramesGatewayTest extends GatewayContract {

  @Override
  protected GatewayRig start(GatewayTracing gateway, int enginePort) throws Exception {
    return new NettyGateway(gateway, enginePort, true);
  }
}
