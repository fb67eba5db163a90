package io.inferspan.samples.desk;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.samples.desk.otlp.TestSpan;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DeskMainIT {

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int run(Map<String, String> environment, String... arguments) {
    return DeskMain.run(
        List.of(arguments),
        environment,
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8));
  }

  @Test
  void help_namesEverySetting() {
    assertThat(run(Map.of(), "--help")).isZero();

    for (Setting setting : Setting.values()) {
      assertThat(out.toString(StandardCharsets.UTF_8)).contains(setting.flag() + " ");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "--port=99999, '--port is 99999, but must be 0 to 65535.'",
    "--max-spans=1, '--max-spans is 1, but must be 100 to 100000000.'",
    "--otlp-grpc-port=x, '--otlp-grpc-port is x, but must be 0 to 65535.'",
    "--nonsense, 'Unknown option --nonsense; --help lists the options.'",
    "--port, '--port needs a value; see --help.'",
  })
  void invalidSetting_printsOneSentence(String argument, String sentence) {
    assertThat(run(Map.of(), argument)).isEqualTo(2);

    assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo(sentence + System.lineSeparator());
  }

  @Test
  void invalidVariable_isNamed() {
    assertThat(run(Map.of("DESK_STACKS", "/missing"))).isEqualTo(2);

    assertThat(err.toString(StandardCharsets.UTF_8))
        .startsWith("DESK_STACKS is /missing, but must be a directory.");
  }

  @Test
  void flag_overridesVariable() {
    DeskConfig config =
        DeskConfig.parse(
            List.of("--port", "1"), Map.of("DESK_PORT", "2", "DESK_MAX_SPANS", "1000"));

    assertThat(config.port()).isEqualTo(1);
    assertThat(config.bounds().maxSpans()).isEqualTo(1_000);
  }

  @Test
  void portInUse_isReportedInOneSentence() {
    try (RunningDesk desk = RunningDesk.start()) {
      int status =
          run(Map.of(), "--port=" + desk.port(), "--otlp-http-port=0", "--otlp-grpc-port=0");

      assertThat(status).isEqualTo(1);
      assertThat(err.toString(StandardCharsets.UTF_8))
          .startsWith("Cannot start the desk: cannot listen on port " + desk.port() + ": ");
    }
  }

  @Test
  void explain_printsTheDesksExplanation() throws Exception {
    try (RunningDesk desk = RunningDesk.start()) {
      desk.export(TestSpan.export(EngineSteps.all()));
      desk.await("/api/requests?q=mine", json -> Double.valueOf(1).equals(json.get("matched")));
      String address = "--desk=http://127.0.0.1:" + desk.port();

      assertThat(run(Map.of(), "explain", "mine", address)).isZero();
      assertThat(out.toString(StandardCharsets.UTF_8))
          .isEqualTo(desk.get("/api/explain?id=mine").body())
          .contains("heavy (tiny) made it wait longest");
      assertThat(run(Map.of(), "explain", "none", address)).isEqualTo(1);
      assertThat(err.toString(StandardCharsets.UTF_8)).contains("has no request with the id none.");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "explain --desk=http://127.0.0.1:1, 2, explain needs a trace id or a request id",
    "explain id --desk=http://127.0.0.1:1, 1, No desk answers at http://127.0.0.1:1;",
  })
  void failedExplain_printsWhy(String arguments, int status, String sentence) {
    assertThat(run(Map.of(), arguments.split(" "))).isEqualTo(status);

    assertThat(err.toString(StandardCharsets.UTF_8)).startsWith(sentence);
  }

  @Test
  void program_printsItsAddress_andExitsWithStatus0OnSigterm() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                "io.inferspan.samples.desk.DeskMain",
                "--port=0",
                "--otlp-http-port=0",
                "--otlp-grpc-port=0")
            .redirectErrorStream(true)
            .start();
    try {
      BufferedReader said = process.inputReader(StandardCharsets.UTF_8);
      assertThat(said.readLine())
          .matches(
              "desk: http://127\\.0\\.0\\.1:\\d+/ \\(OTLP over gRPC on \\d+, over HTTP on \\d+\\)");

      process.destroy();

      assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isZero();
    } finally {
      process.destroyForcibly();
    }
  }
}
