package io.inferspan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.inferspan.catalog.KernelSpans;
import io.inferspan.setup.Settings;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Extensions on the class path, and the effect of their failures. */
class ExtensionsTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final List<String> events = new ArrayList<>();
  private Warnings warnings;

  @BeforeEach
  void collectWarnings() {
    GlobalOpenTelemetry.resetForTest();
    warnings = Warnings.collect();
  }

  @AfterEach
  void stopCollecting() {
    warnings.close();
    ListedExtension.onJoin = null;
  }

  @Test
  void registeredExtension_joinsTheTelemetryOfInitTracing() {
    ListedExtension.onJoin = (telemetry, settings) -> () -> events.add("left");

    try (Telemetry telemetry = Telemetry.initTracing(TestOptions.exportingNowhere().build())) {
      assertThat(ListedExtension.joined).isSameAs(telemetry);
    }

    assertThat(events).containsExactly("left");
    assertThat(warnings.sentences()).isEmpty();
  }

  @Test
  void meters_includeThoseOfJoinedExtensions() {
    ListedExtension.onJoin =
        (telemetry, settings) ->
            new TelemetryExtension.Metered() {
              @Override
              public void bindTo(MeterRegistry registry) {
                Gauge.builder("listed.depth", () -> 7).register(registry);
              }

              @Override
              public void close() {}
            };
    SimpleMeterRegistry registry = new SimpleMeterRegistry();

    try (Telemetry telemetry = Telemetry.initTracing(TestOptions.exportingNowhere().build())) {
      telemetry.bindTo(registry);
    }

    assertThat(registry.get("listed.depth").gauge().value()).isEqualTo(7);
  }

  @Test
  void failingMeters_areLoggedInOneLine() {
    ListedExtension.onJoin =
        (telemetry, settings) ->
            new TelemetryExtension.Metered() {
              @Override
              public void bindTo(MeterRegistry registry) {
                throw new IllegalStateException("no such meter");
              }

              @Override
              public void close() {}
            };

    try (Telemetry telemetry = Telemetry.initTracing(TestOptions.exportingNowhere().build())) {
      telemetry.bindTo(new SimpleMeterRegistry());
    }

    assertThat(warnings.sentences()).singleElement().asString().contains("no such meter");
  }

  @Test
  void using_joinsNoExtension() {
    ListedExtension.onJoin = (telemetry, settings) -> () -> events.add("left");
    ListedExtension.joined = null;

    Telemetry.using(tracing.openTelemetry()).close();

    assertThat(ListedExtension.joined).isNull();
    assertThat(events).isEmpty();
  }

  @Test
  void extension_isClosedBeforeTheLastSpansAreExported() throws Exception {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      ListedExtension.onJoin =
          (telemetry, settings) ->
              () -> telemetry.span(KernelSpans.CUDA, "init", Context.root()).start().close();

      Telemetry telemetry = Telemetry.initTracing(TestOptions.exportingTo(receiver).build());
      telemetry.close();

      assertThat(receiver.awaitSpans(1, Duration.ofSeconds(20)))
          .singleElement()
          .satisfies(span -> assertThat(span.name()).isEqualTo("cuda.init"));
    }
  }

  @Test
  void disabledExtension_isNotJoined() {
    Settings settings = new Settings(Map.of("inferspan.one", "off"));
    Extensions extensions =
        Extensions.of(List.of(joining("one"), joining("two")).iterator(), settings);
    assertThat(events).containsExactly("two prepared");

    extensions.join(telemetry(), settings);

    assertThat(events).containsExactly("two prepared", "two joined");
  }

  @Test
  void unknownSetting_isLoggedAndTreatedAsAuto() {
    join(Map.of("inferspan.one", "of"), joining("one"));

    assertThat(events).containsExactly("one prepared", "one joined");
    assertThat(warnings.sentences())
        .containsExactly("INFERSPAN_ONE is 'of', but must be auto or off; using 'auto'");
  }

  @Test
  void failingExtension_isLoggedInOneLine_andOthersJoin() {
    join(Map.of(), failing(), joining("two"));

    assertThat(events).containsExactly("two prepared", "two joined");
    assertThat(warnings.sentences())
        .singleElement()
        .asString()
        .contains("could not be started", "no such kernel");
  }

  @Test
  void brokenServiceFile_isLoggedInOneLine_andOthersJoin() {
    Iterator<TelemetryExtension> good = List.of(joining("two")).iterator();
    Iterator<TelemetryExtension> broken =
        new Iterator<>() {
          private boolean thrown;

          @Override
          public boolean hasNext() {
            return !thrown || good.hasNext();
          }

          @Override
          public TelemetryExtension next() {
            if (!thrown) {
              thrown = true;
              throw new ServiceConfigurationError("no such class");
            }
            return good.next();
          }
        };

    Settings settings = new Settings(Map.of());
    Extensions.of(broken, settings).join(telemetry(), settings);

    assertThat(events).containsExactly("two prepared", "two joined");
    assertThat(warnings.sentences()).singleElement().asString().contains("is ignored");
  }

  @Test
  void extensions_areClosedInReverseOrder_evenIfOneFails() {
    Settings settings = new Settings(Map.of());
    Extensions extensions =
        Extensions.of(
            List.of(joining("one"), failingToLeave(), joining("three")).iterator(), settings);
    extensions.join(telemetry(), settings);
    events.clear();

    assertThatCode(extensions::close).doesNotThrowAnyException();
    extensions.close();

    assertThat(events).containsExactly("three left", "one left");
    assertThat(warnings.sentences()).singleElement().asString().contains("could not be closed");
  }

  @Test
  void extension_readsSettingsInTheUsualOrder() {
    List<@Nullable String> seen = new ArrayList<>();
    TelemetryExtension reading =
        extension(
            "one",
            settings -> {
              seen.add(settings.apply("inferspan.one.depth"));
              return () -> {};
            });

    join(Map.of("inferspan.one.depth", " 3 "), reading);

    assertThat(seen).containsExactly("3");
  }

  private void join(Map<String, String> settings, TelemetryExtension... extensions) {
    Settings all = new Settings(settings);
    Extensions.of(List.of(extensions).iterator(), all).join(telemetry(), all);
  }

  private Telemetry telemetry() {
    return Telemetry.using(tracing.openTelemetry());
  }

  private TelemetryExtension joining(String name) {
    return new TelemetryExtension() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public void prepare() {
        events.add(name + " prepared");
      }

      @Override
      public AutoCloseable join(Telemetry telemetry, Function<String, @Nullable String> settings) {
        events.add(name + " joined");
        return () -> events.add(name + " left");
      }
    };
  }

  private static TelemetryExtension failing() {
    return extension(
        "bad",
        settings -> {
          throw new IllegalStateException("no such kernel");
        });
  }

  private static TelemetryExtension failingToLeave() {
    return extension(
        "sticky",
        settings ->
            () -> {
              throw new IllegalStateException("stuck");
            });
  }

  private interface Joining {
    AutoCloseable join(Function<String, @Nullable String> settings);
  }

  private static TelemetryExtension extension(String name, Joining joining) {
    return new TelemetryExtension() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public AutoCloseable join(Telemetry telemetry, Function<String, @Nullable String> settings) {
        return joining.join(settings);
      }
    };
  }
}
