package io.inferspan.gateway;

/** A gateway that runs for one test, in front of one engine. */
public interface GatewayRig extends AutoCloseable {

  /** The loopback port of the gateway, for HTTP/1.1 and for HTTP/2 without an upgrade. */
  int port();

  @Override
  void close();
}
