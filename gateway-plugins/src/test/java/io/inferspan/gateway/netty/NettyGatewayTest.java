package io.inferspan.gateway.netty;

import io.inferspan.gateway.GatewayContract;
import io.inferspan.gateway.GatewayRig;
import io.inferspan.gateway.GatewayTracing;

/**
 * The handler of HTTP objects, on connections of HTTP/1.1 and on streams of HTTP/2. Its gateway
 * counts every buffer, so that one that is not released fails the test.
 */
final class NettyGatewayTest extends GatewayContract {

  @Override
  protected GatewayRig start(GatewayTracing gateway, int enginePort) throws Exception {
    return new NettyGateway(gateway, enginePort, false);
  }
}
