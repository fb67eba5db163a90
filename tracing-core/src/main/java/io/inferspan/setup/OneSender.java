package io.inferspan.setup;

import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.sdk.common.export.GrpcSenderProvider;
import io.opentelemetry.sdk.common.export.HttpSenderProvider;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Selects one of several OTLP senders, the HTTP clients of an OTLP exporter, on the class path.
 * OkHttp is a dependency of the exporter, so any other sender was added on purpose and is
 * preferred.
 *
 * <p>The SDK would select an arbitrary sender and log a warning. The SDK's system property for
 * selecting a sender takes precedence.
 */
record OneSender(ComponentLoader delegate) implements ComponentLoader {
  private static final String DEFAULT_SENDER = "okhttp";

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
