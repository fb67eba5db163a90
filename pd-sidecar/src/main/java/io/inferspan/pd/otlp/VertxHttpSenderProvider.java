package io.inferspan.pd.otlp;

import io.opentelemetry.sdk.common.export.HttpSender;
import io.opentelemetry.sdk.common.export.HttpSenderConfig;
import io.opentelemetry.sdk.common.export.HttpSenderProvider;

/** Has the OTLP exporters send over Vert.x where they are to speak HTTP. */
public final class VertxHttpSenderProvider implements HttpSenderProvider {

  /** For the service loader. */
  public VertxHttpSenderProvider() {}

  @Override
  public HttpSender createSender(HttpSenderConfig config) {
    return new VertxHttpSender(config);
  }
}
