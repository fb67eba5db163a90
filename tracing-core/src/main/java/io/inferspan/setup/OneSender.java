package io.inferspan.setup;

import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.sdk.common.export.GrpcSenderProvider;
import io.opentelemetry.sdk.common.export.HttpSenderProvider;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Chooses among several OTLP senders on the class path: OkHttp comes with the exporter, so another
 * one was added on purpose.
 *
 * <p>The SDK would choose any and log a warning. Its own system property takes precedence.
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
    all.sort(Comparator.comparing(sender -> sender.getClass().getName().contains(DEFAULT_SENDER)));
    return all.subList(0, Math.min(1, all.size()));
  }
}
