package io.inferspan.samples.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.samples.gateway.config.Address;
import io.inferspan.samples.gateway.config.GatewayConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GatewayMainTest {

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int run(Map<String, String> environment, String... arguments) {
    return GatewayMain.run(
        List.of(arguments),
        environment,
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8));
  }

  @Test
  void help_isTheOnlyOutput() {
    assertThat(run(Map.of(), "--help")).isZero();

    assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo(GatewayConfig.help());
    assertThat(err.size()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "--port=99999, '--port is 99999, but must be 0 to 65535.'",
    "--retries=x, '--retries is x, but must be 0 to 10.'",
    "--tracing=maybe, '--tracing is maybe, but must be true or false.'",
    "--prefill=here, '--prefill is here, but must be host:port, or several separated by commas.'",
    "--prefill=::1:80, '--prefill is ::1:80, but must be host:port, or several separated by commas.'",
    "'--kv-events=a:1,b:1', '--kv-events has 2 publishers for 1 engines; "
        + "list one per engine, decode before prefill.'",
    "--max-body-bytes=0, '--max-body-bytes is 0, but must be 1 or more.'",
    "--nonsense, 'Unknown option --nonsense; --help lists the options.'",
    "--port, '--port needs a value; see --help.'",
  })
  void invalidSetting_printsOneSentence(String argument, String sentence) {
    assertThat(run(Map.of(), "--decode=127.0.0.1:1", argument)).isEqualTo(2);

    assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo(sentence + System.lineSeparator());
    assertThat(out.size()).isZero();
  }

  @Test
  void invalidSettingOfOpenTelemetry_printsOneSentence() {
    System.setProperty("otel.exporter.otlp.protocol", "smoke-signals");
    try {
      assertThat(run(Map.of(), "--decode=127.0.0.1:1")).isEqualTo(2);
    } finally {
      System.clearProperty("otel.exporter.otlp.protocol");
    }

    assertThat(err.toString(StandardCharsets.UTF_8).lines())
        .containsExactly(
            "OTEL_EXPORTER_OTLP_PROTOCOL is 'smoke-signals', but must be grpc or http/protobuf");
  }

  @Test
  void gatewayWithoutEngines_isInvalid() {
    assertThat(run(Map.of())).isEqualTo(2);

    assertThat(err.toString(StandardCharsets.UTF_8)).contains("--decode", "GATEWAY_DECODE");
  }

  @Test
  void invalidVariable_isNamed() {
    assertThat(run(Map.of("GATEWAY_DECODE", "a:1", "GATEWAY_PORT", "-1"))).isEqualTo(2);

    assertThat(err.toString(StandardCharsets.UTF_8)).startsWith("GATEWAY_PORT is -1, but");
  }

  @Test
  void flag_overridesVariable() {
    GatewayConfig config =
        GatewayConfig.parse(
            List.of("--port", "1", "--decode=[::1]:8000, b:2"),
            Map.of("GATEWAY_PORT", "2", "GATEWAY_RETRIES", "3"));

    assertThat(config.port()).isEqualTo(1);
    assertThat(config.retries()).isEqualTo(3);
    assertThat(config.decode()).containsExactly(new Address("::1", 8000), new Address("b", 2));
  }

  @Test
  void portInUse_isReportedInOneSentence() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int status =
          run(
              Map.of(),
              "--tracing=false",
              "--host=127.0.0.1",
              "--metrics-port=none",
              "--decode=127.0.0.1:1",
              "--port=" + taken.getLocalPort());

      assertThat(status).isEqualTo(1);
      assertThat(err.toString(StandardCharsets.UTF_8).lines())
          .singleElement()
          .asString()
          .startsWith(
              "Cannot start the gateway: cannot listen on port " + taken.getLocalPort() + ": ");
    }
  }
}
