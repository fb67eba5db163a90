package io.inferspan;

import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.context.propagation.TextMapSetter;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurablePropagatorProvider;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** A user's propagator that declares the fields of W3C trace context, but reads none of them. */
final class DistrustfulPropagator implements TextMapPropagator {

  static final String NAME = "distrustful";

  @Override
  public Collection<String> fields() {
    return W3CTraceContextPropagator.getInstance().fields();
  }

  @Override
  public <C> void inject(Context context, @Nullable C carrier, TextMapSetter<C> setter) {
    setter.set(carrier, NAME, "was here");
    W3CTraceContextPropagator.getInstance().inject(context, carrier, setter);
  }

  @Override
  public <C> Context extract(Context context, @Nullable C carrier, TextMapGetter<C> getter) {
    return context;
  }

  /** Registers the propagator as {@link #NAME} in {@code OTEL_PROPAGATORS}. */
  public static final class Provider implements ConfigurablePropagatorProvider {

    @Override
    public TextMapPropagator getPropagator(ConfigProperties config) {
      return new DistrustfulPropagator();
    }

    @Override
    public String getName() {
      return NAME;
    }
  }
}
