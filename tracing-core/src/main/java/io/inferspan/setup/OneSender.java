package io.inferspan.setup;

import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.sdk.common.export.GrpcSenderProvider;
import io.opentelemetry.sdk.common.export.HttpSenderProvider;
import java.util.ArrayList;
import java.util.List;

/**
 * Where several OTLP senders are on the class path, takes the one that somebody put there on
 * purpose: OkHttp only comes with the exporter.
 *
 * <p>The SDK would take any and log a warning. Its own system property still chooses.
 */
final class OneSender implements ComponentLoader {

  private static final String DEFAULT_SENDER = "okhttp";

  private final ComponentLoader delegate;

  OneSender(ComponentLoader delegate) {
    this.delegate = delegate;
  }

  @Override
  public <T> Iterable<T> load(Class<T> spi) {
    Iterable<T> all = delegate.load(spi);
    boolean sender = spi == GrpcSenderProvider.class || spi == HttpSenderProvider.class;
    return sender && System.getProperty(spi.getName()) == null ? preferred(all) : all;
  }

  private static <T> Iterable<T> preferred(Iterable<T> senders) {
    List<T> all = new ArrayList<>();
    senders.forEach(all::add);
    List<T> chosen =
        all.stream().filter(s -> !s.getClass().getName().contains(DEFAULT_SENDER)).toList();
    return chosen.isEmpty() ? all : chosen.subList(0, 1);
  }
}
