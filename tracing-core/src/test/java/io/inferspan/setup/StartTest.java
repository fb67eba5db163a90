package io.inferspan.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.ChildJvm;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.TelemetryProcess;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The message at startup: one line on success, one sentence on failure. */
class StartTest {

  private static final String TENTH = "parentbased_traceidratio 0.1";

  @Test
  void successfulStart_logsDestinationRatioAndService() {
    assertThat(started())
        .isEqualTo(
            "INFO: Tracing 'llm-gateway': sampler "
                + TENTH
                + ", spans go to OTLP (grpc) at http://localhost:4317");
    assertThat(started("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"))
        .endsWith("spans go to OTLP (http/protobuf) at http://localhost:4318");
    assertThat(started("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:secret@collector:4317"))
        .endsWith("spans go to OTLP (grpc) at http://collector:4317");
    assertThat(started("OTEL_TRACES_EXPORTER", "console")).endsWith("spans go to console");
  }

  @Test
  void correctedSettings_areLoggedAsUsed() {
    assertThat(started("OTEL_TRACES_SAMPLER", "bogus")).contains("sampler " + TENTH);
    assertThat(started("OTEL_TRACES_EXPORTER", "bogus")).contains("spans go to OTLP (grpc)");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_PROTOCOL",
        "OTEL_EXPORTER_OTLP_CERTIFICATE",
        "OTEL_EXPORTER_OTLP_COMPRESSION",
        "OTEL_EXPORTER_OTLP_INSECURE",
        "OTEL_SERVICE_NAME",
        "OTEL_TRACES_EXPORTER",
        "OTEL_TRACES_SAMPLER",
        "OTEL_TRACES_SAMPLER_ARG",
        "OTEL_PROPAGATORS"
      })
  void emptyVariable_isUnset(String name) {
    ChildJvm.Outcome outcome =
        ChildJvm.running(TelemetryProcess.class).env(name, "").run("roots:1");

    assertThat(outcome.exit()).describedAs("%s", outcome).isZero();
    assertThat(outcome.err())
        .contains("Tracing 'llm-gateway': sampler " + TENTH)
        .contains("spans go to OTLP (grpc) at http://localhost:4317")
        .doesNotContain("WARNING");
  }

  @Test
  void emptyProperty_isUnset() {
    TelemetryOptions options =
        TelemetryOptions.builder()
            .setting("otel.exporter.otlp.endpoint", " ")
            .setting("otel.exporter.otlp.traces.protocol", "")
            .build();

    Telemetry.initTracing(options).close();
  }

  @ParameterizedTest
  @CsvSource({
    "otel.exporter.otlp.headers,        OTEL_EXPORTER_OTLP_HEADERS",
    "otel.exporter.otlp.traces.headers, OTEL_EXPORTER_OTLP_TRACES_HEADERS"
  })
  void headersThatCannotBeSent_areRejectedWithoutTheirValue(String property, String variable) {
    for (String header : List.of("a=sec\nret", "a=sec%0d%0aret", "a=sec\u007fret", "a=sec%00ret")) {
      assertThatThrownBy(() -> start(property, "ok=1," + header))
          .isInstanceOf(ConfigurationException.class)
          .hasMessageContaining(variable)
          .hasMessageContaining("'a'")
          .hasMessageNotContaining("sec");
    }
    for (String header : List.of("a=s\u00e4c", "a=%C3%A4", "a b=c", "a(b)=c", "a:=c", "\u00e4=c")) {
      assertThatThrownBy(() -> start(property, header))
          .isInstanceOf(ConfigurationException.class)
          .hasMessageContaining(variable)
          .hasMessageEndingWith("names must be HTTP tokens, values ASCII");
    }
    start(property, "a=b%20c,tab=x%09y,end=z\n,!#$%&'*+-.^_`|~1=x");
  }

  @Test
  void unsupportedProtocol_isRejectedWithTheSupportedOnes() {
    assertThatThrownBy(() -> start("otel.exporter.otlp.protocol", "http/json"))
        .isInstanceOf(ConfigurationException.class)
        .hasMessage(
            "OTEL_EXPORTER_OTLP_PROTOCOL is 'http/json', but must be grpc or http/protobuf");
    assertThatThrownBy(() -> start("otel.exporter.otlp.traces.protocol", "http/json"))
        .hasMessageStartingWith("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL is 'http/json'");
  }

  @Test
  void badCertificate_isRejectedInOneSentenceWithoutClassNames(@TempDir Path folder)
      throws IOException {
    Path certificate = Files.writeString(folder.resolve("bad.pem"), "no certificate");

    assertThatThrownBy(() -> start("otel.exporter.otlp.certificate", certificate.toString()))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("PEM")
        .hasMessageNotContaining("java.lang");
  }

  @Test
  void missingJar_isReportedByName() {
    ChildJvm.Outcome outcome =
        ChildJvm.running(TelemetryProcess.class).without("exporter-otlp-common").run("roots:1");

    assertThat(outcome.err())
        .contains("Inferspan needs OpenTelemetry 1.59 or newer")
        .contains("io/opentelemetry/exporter/internal/otlp");
  }

  @Test
  void missingJsonEncoder_isRejectedInOneSentence() {
    ChildJvm.Outcome outcome =
        ChildJvm.running(TelemetryProcess.class)
            .env("OTEL_TRACES_EXPORTER", "console")
            .without("exporter-otlp-common")
            .run("roots:1");

    assertThat(outcome.err())
        .contains("OpenTelemetry's JSON encoder lacks io/opentelemetry/exporter/internal/otlp")
        .contains("add jackson-core");
  }

  private static void start(String property, String value) {
    Telemetry.initTracing(TelemetryOptions.builder().setting(property, value).build()).close();
  }

  /** Returns the last line of the log of a start with these variables. */
  private static String started(String... variables) {
    ChildJvm child = ChildJvm.running(TelemetryProcess.class);
    for (int i = 0; i < variables.length; i += 2) {
      child.env(variables[i], variables[i + 1]);
    }
    ChildJvm.Outcome outcome = child.run("roots:1");
    assertThat(outcome.exit()).describedAs("%s", outcome).isZero();
    return outcome.err().lines().filter(line -> line.contains("Tracing '")).findFirst().orElse("");
  }
}
