package io.inferspan.gateway.extproc.wire;

import java.nio.ByteBuffer;

/** The two messages of {@code grpc.health.v1.Health/Check}. */
public final class HealthMessages {

  private static final int SERVING = 1;
  private static final int NOT_SERVING = 2;

  private HealthMessages() {}

  /** Reads a {@code HealthCheckRequest}: the service that is asked about, empty for the whole. */
  public static String read(ByteBuffer message) throws MalformedMessageException {
    ProtoReader in = new ProtoReader(message);
    String service = "";
    while (in.next()) {
      if (in.field() == 1) {
        service = in.readText();
      } else {
        in.skip();
      }
    }
    return service;
  }

  /** Writes a {@code HealthCheckResponse}, with room for a gRPC frame's head before it. */
  public static ByteBuffer answer(boolean serving) {
    return new ProtoWriter(ProcessingResponse.HEAD_ROOM, 0)
        .number(1, serving ? SERVING : NOT_SERVING)
        .written();
  }
}
