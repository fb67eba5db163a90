package io.inferspan.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.TestOptions;
import io.inferspan.Warnings;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** llm-d's tests of the sampler: the first half of case 11. */
class SamplerCasesTest {

  private static final String SAMPLER = "otel.traces.sampler";
  private static final String ARGUMENT = "otel.traces.sampler.arg";
  private static final String PARENT_BASED_TENTH = "ParentBased{root:TraceIdRatioBased{0.100000}";

  private Warnings warnings;

  @BeforeEach
  void collectWarnings() {
    warnings = Warnings.collect();
  }

  @AfterEach
  void closeWarnings() {
    warnings.close();
  }

  @Test
  void case11_nothingSet_isParentBasedTenth() {
    assertThat(samplerOf(TelemetryOptions.builder())).startsWith(PARENT_BASED_TENTH);
    assertThat(warnings.sentences()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "always_on, AlwaysOnSampler",
    "always_off, AlwaysOffSampler",
    "traceidratio, TraceIdRatioBased{0.250000}",
    "parentbased_always_on, ParentBased{root:AlwaysOnSampler",
    "parentbased_always_off, ParentBased{root:AlwaysOffSampler",
    "parentbased_traceidratio, ParentBased{root:TraceIdRatioBased{0.250000}",
  })
  void case11_sixSamplerNames_areAccepted(String name, String description) {
    TelemetryOptions.Builder options =
        TelemetryOptions.builder().setting(SAMPLER, name).setting(ARGUMENT, "0.25");

    assertThat(samplerOf(options)).startsWith(description);
    assertThat(warnings.sentences()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"traceidratio", "parentbased_traceidratio"})
  void case11_ratioSamplerWithoutArgument_samplesATenth(String name) {
    assertThat(samplerOf(TelemetryOptions.builder().setting(SAMPLER, name)))
        .contains("TraceIdRatioBased{0.100000}");
    assertThat(warnings.sentences()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"jaeger_remote", "parentbased_jaeger_remote", "junk", "ALWAYS_ON"})
  void case11_unsupportedSampler_isLoggedOnce_andATenthIsSampled(String name) {
    TelemetryOptions.Builder options =
        TelemetryOptions.builder().setting(SAMPLER, name).setting(ARGUMENT, "0.9");

    assertThat(samplerOf(options)).startsWith(PARENT_BASED_TENTH);
    assertThat(warnings.sentences())
        .singleElement()
        .asString()
        .contains("OTEL_TRACES_SAMPLER", "'" + name + "'", "parentbased_traceidratio", "always_on")
        .doesNotContain("\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"10", "-1", "abc", "NaN", "1.0000001", "Infinity", "0,5", "50%"})
  void case11_invalidRatio_isLoggedOnce_andATenthIsSampled(String argument) {
    TelemetryOptions.Builder options = TelemetryOptions.builder().setting(ARGUMENT, argument);

    assertThat(samplerOf(options)).startsWith(PARENT_BASED_TENTH);
    assertThat(warnings.sentences())
        .singleElement()
        .asString()
        .contains("OTEL_TRACES_SAMPLER_ARG", "'" + argument + "'", "0.1", "from 0 to 1")
        .doesNotContain("\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "1", "0.0", "1.0", "1e-3", " 0.5 "})
  void case11_boundsAndWhitespace_areValidRatios(String argument) {
    double ratio = Double.parseDouble(argument.strip());

    assertThat(samplerOf(TelemetryOptions.builder().setting(ARGUMENT, argument)))
        .startsWith("ParentBased{root:TraceIdRatioBased{%f}".formatted(ratio));
    assertThat(warnings.sentences()).isEmpty();
  }

  @Test
  void case11_argumentOfASamplerWithoutOne_isIgnored() {
    TelemetryOptions.Builder options =
        TelemetryOptions.builder().setting(SAMPLER, "always_on").setting(ARGUMENT, "abc");

    assertThat(samplerOf(options)).isEqualTo("AlwaysOnSampler");
    assertThat(warnings.sentences()).isEmpty();
  }

  @Test
  void severalMistakes_causeOneWarningEach() {
    samplerOf(
        TelemetryOptions.builder()
            .setting(SAMPLER, "junk")
            .setting("otel.resource.attributes", "broken"));

    assertThat(warnings.sentences()).hasSize(2);
  }

  @Test
  void malformedNumber_isRejectedAtStartByName() {
    TelemetryOptions options =
        TestOptions.tracingAll().setting("otel.bsp.max.queue.size", "many").build();

    assertThatThrownBy(() -> Telemetry.initTracing(options))
        .hasMessageContaining("otel.bsp.max.queue.size")
        .hasMessageContaining("many");
    // A failed start leaves nothing behind.
    assertThat(samplerOf(TelemetryOptions.builder())).startsWith(PARENT_BASED_TENTH);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-5"})
  void invalidQueueSize_isRejectedAtStartByName(String size) {
    TelemetryOptions options =
        TestOptions.tracingAll().setting("otel.bsp.max.queue.size", size).build();

    assertThatThrownBy(() -> closeAgain(options)).hasMessageMatching("(?is).*max.?queue.?size.*");
  }

  private static void closeAgain(TelemetryOptions options) {
    Telemetry.initTracing(options).close();
  }

  private static String samplerOf(TelemetryOptions.Builder options) {
    try (Telemetry telemetry =
        Telemetry.initTracing(options.setting("otel.traces.exporter", "none").build())) {
      OpenTelemetrySdk sdk = (OpenTelemetrySdk) telemetry.openTelemetry();
      return sdk.getSdkTracerProvider().getSampler().getDescription();
    }
  }
}
