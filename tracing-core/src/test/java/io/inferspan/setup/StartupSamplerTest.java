package io.inferspan.setup;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TestOptions;
import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.GatewaySpans;
import io.opentelemetry.context.Context;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The sampling of the startup span. */
class StartupSamplerTest {

  @ParameterizedTest
  @CsvSource({
    "traceidratio,true",
    "parentbased_traceidratio,true",
    "always_off,false",
    "parentbased_always_off,false",
  })
  void startup_isSampledUnlessTracingIsOff(String sampler, boolean sampled) {
    try (Telemetry telemetry =
            Telemetry.initTracing(
                TestOptions.exportingNowhere()
                    .setting("otel.traces.sampler", sampler)
                    .setting("otel.traces.sampler.arg", "0")
                    .build());
        OperationSpan startup = telemetry.span(EppSpans.STARTUP, Context.root()).start();
        OperationSpan request = telemetry.span(GatewaySpans.REQUEST, Context.root()).start()) {
      assertThat(startup.recording()).isEqualTo(sampled);
      assertThat(request.recording()).isFalse();
    }
  }
}
