package io.inferspan.pd.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(10)
class YamlSourceTest {

  private static final String REFUSED = "failed to unmarshal sidecar configuration: ";

  @TempDir Path folder;

  @Test
  void file_isReadLikeInlineYaml() throws Exception {
    String yaml =
        """
        # what a chart renders
        port: 8100
        enable-tls:
        - prefiller
        - decoder
        secure-proxy: no
        cert-path: "/etc/certificates"
        inference-pool: 'ns/pool'
        prefill-retry-backoff: 500ms
        body-limit: 1MiB
        """;

    SidecarConfig config = Parsed.config("--configuration-file=" + write(yaml));

    assertThat(config.get(Settings.PORT)).isEqualTo(8100);
    assertThat(config.get(Settings.SECURE_PROXY)).isFalse();
    assertThat(config.path(Settings.CERT_PATH)).hasToString("/etc/certificates");
    assertThat(config.tls()).containsOnly("prefiller", "decoder");
    assertThat(config.get(Settings.PREFILL_RETRY_BACKOFF)).isEqualTo(Duration.ofMillis(500));
    assertThat(config.get(Settings.BODY_LIMIT)).isEqualTo(1 << 20);
    assertThat(Parsed.values(Parsed.yaml(yaml))).isEqualTo(Parsed.values(config));
  }

  @Test
  void inlineYaml_mayBeJsonAndBeIndentedByTabs() throws ConfigException {
    assertThat(Parsed.yaml("{\n\t\tport: 8011,\n\t\ttracing: on\n\t}").get(Settings.PORT))
        .isEqualTo(8011);
    assertThat(Parsed.yaml("{\"port\": \"8011\", \"enable-tls\": []}").get(Settings.PORT))
        .isEqualTo(8011);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "# nothing",
        "---",
        "null",
        "{}",
        "port:",
        "port: ~",
        "port: ''",
        "port: 0",
        "port: null"
      })
  void emptyYamlAndEmptyValues_setNothing(String yaml) throws ConfigException {
    assertThat(Parsed.values(Parsed.yaml(yaml))).isEqualTo(Parsed.values(Parsed.config()));
    assertThat(Parsed.yaml(yaml).notes()).isEmpty();
  }

  @Test
  void listAndItsAlias_areRead() throws ConfigException {
    SidecarConfig config =
        Parsed.yaml("enable-tls: &s [decoder]\ntls-insecure-skip-verify: *s\nallow-target: a,b");

    assertThat(config.skipVerify()).containsOnly("decoder");
    assertThat(config.get(Settings.ALLOW_TARGET)).containsExactly("a", "b");
  }

  @Test
  void inlineAndFile_areMutuallyExclusive() {
    assertThat(Parsed.refusal("--configuration={port: 1}", "--configuration-file=/x"))
        .isEqualTo("flags --configuration and --configuration-file are mutually exclusive");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          unknown-key: 1 | unknown key "unknown-key"; the keys are the names of the flags
          {port: 8200, invalid-yaml} | unknown key "invalid-yaml"; the keys are the names of the flags
          configuration: x | unknown key "configuration"; the keys are the names of the flags
          zap-devel: true | unknown key "zap-devel"; the keys are the names of the flags
          {port: 1, port: 2} | the key "port" occurs twice
          [port] | it must be a mapping of keys to values
          port | it must be a mapping of keys to values
          port: [1] | port must be one value, but is a list
          port: {a: b} | the key "port" must have one value or a list of values, without nesting
          enable-tls: [[prefiller]] | the key "enable-tls" must have one value or a list of values, without nesting
          {[a]: b} | a key must be a plain name
          port: *x | found undefined alias x in line 1, column 7
          port: x | port must be a whole number from 0 to 65535, but is "x" (from the YAML key port)
          tracing: maybe | tracing must be true or false, but is "maybe" (from the YAML key tracing)
          enable-tls: [x] | enable-tls must be some of prefiller, decoder, encoder, separated by commas, but is "x" (from the YAML key enable-tls)
          a: b: c | mapping values are not allowed here in line 1, column 5
          """)
  void invalidYaml_isRefusedWithItsKey(String yaml, String reason) {
    assertThat(Parsed.refusal("--configuration=" + yaml)).isEqualTo(REFUSED + reason);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "port: 8100\ninvalid-yaml,\n",
        "port: 1\n---\nport: 2",
        "%YAML 9.9\n---\nport: 1",
        "port: !!java.net.URL [x]",
        "{port: 1",
        "port: \u0001",
        "port: \"\\ud800\"",
        "a: &a [*a]",
        "<<: {port: 1}"
      })
  void malformedYaml_isRefusedOnOneLine(String yaml) {
    assertThat(Parsed.refusal("--configuration=" + yaml)).startsWith(REFUSED).doesNotContain("\n");
  }

  @Test
  void aliasBomb_isRefusedAtOnce() {
    StringBuilder yaml = new StringBuilder("a: &a [x, x, x, x, x, x, x, x, x]\n");
    for (char c = 'b'; c <= 'z'; c++) {
      String list = ("*" + (char) (c - 1) + ", ").repeat(9);
      yaml.append("%s: &%s [%s x]\n".formatted(c, c, list));
    }
    assertThat(Parsed.refusal("--configuration=" + yaml)).startsWith(REFUSED);
  }

  @Test
  void deepNesting_isRefusedAtOnce() {
    assertThat(Parsed.refusal("--configuration=port: " + "[".repeat(300_000))).startsWith(REFUSED);
    assertThat(Parsed.refusal("--configuration=" + "{a: ".repeat(200_000))).startsWith(REFUSED);
  }

  @Test
  void hugeYaml_isRefused() throws IOException {
    String huge = "#".repeat((1 << 20) + 1);

    assertThat(Parsed.refusal("--configuration=" + huge))
        .isEqualTo(REFUSED + "it is longer than 1048576 characters");
    assertThat(Parsed.refusal("--configuration-file=" + write(huge)))
        .endsWith("(from --configuration-file): it is larger than 1 MiB");
  }

  @Test
  void unreadableFile_isRefused() throws IOException {
    assertThat(Parsed.refusal("--configuration-file=/nowhere/x.yaml"))
        .isEqualTo(
            "failed to read sidecar configuration from file \"/nowhere/x.yaml\""
                + " (from --configuration-file): there is no such file");
    assertThat(Parsed.refusal("--configuration-file=" + folder))
        .startsWith("failed to read sidecar configuration from file");
    assertThat(Parsed.refusal("--configuration-file=a\0b"))
        .startsWith("failed to read sidecar configuration from file");
    Path binary = Files.write(folder.resolve("b"), new byte[] {(byte) 0xC3, 0x28});
    assertThat(Parsed.refusal("--configuration-file=" + binary)).endsWith("it is not UTF-8");
  }

  private Path write(String yaml) throws IOException {
    return Files.writeString(folder.resolve("sidecar.yaml"), yaml);
  }
}
