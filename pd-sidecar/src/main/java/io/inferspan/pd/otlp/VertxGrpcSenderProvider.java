package io.inferspan.pd.otlp;

import io.opentelemetry.sdk.common.export.GrpcSender;
import io.opentelemetry.sdk.common.export.GrpcSenderConfig;
import io.opentelemetry.sdk.common.export.GrpcSenderProvider;

/** Has the OTLP exporters send over Vert.x where they are to speak gRPC. */
public final class VertxGrpcSenderProvider implements GrpcSenderProvider {

  /** For the service loader. */
  public VertxGrpcSenderProvider() {}

  @Override
  public GrpcSender createSender(GrpcSenderConfig config) {
    return new VertxGrpcSender(config);
  }
}
