package io.inferspan.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import io.opentelemetry.sdk.autoconfigure.spi.internal.DefaultConfigProperties;
import io.opentelemetry.sdk.common.export.HttpSender;
import io.opentelemetry.sdk.common.export.HttpSenderConfig;
import io.opentelemetry.sdk.common.export.HttpSenderProvider;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The endpoint that follows from the settings for TLS and the protocol. */
class ExporterRulesTest {

  private static final String OTLP = "otel.exporter.otlp.";
  private static final String ENDPOINT = OTLP + "endpoint";

  private final Map<String, String> given = new HashMap<>();
  private final List<String> warnings = new ArrayList<>();

  @ParameterizedTest
  @ValueSource(strings = {"certificate=/ca.pem", "traces.certificate=/ca.pem", "insecure=false"})
  void tlsSettingAlone_selectsTlsToLocalhost(String setting) {
    give(setting);
    give("protocol=grpc");

    assertThat(corrected()).containsEntry(ENDPOINT, "https://localhost:4317");
  }

  @ParameterizedTest
  @ValueSource(strings = {"protocol", "traces.protocol"})
  void tlsSettingAlone_usesThePortOfTheProtocol(String protocol) {
    give("certificate=/ca.pem");
    give(protocol + "=http/protobuf");

    assertThat(corrected()).containsEntry(ENDPOINT, "https://localhost:4318");
  }

  @Test
  void withoutSettings_theSdksPlaintextDefaultApplies() {
    assertThat(corrected()).doesNotContainKeys(ENDPOINT, OTLP + "traces.endpoint");
  }

  @Test
  void insecureWithACertificate_staysPlaintext() {
    give("certificate=/ca.pem");
    give("insecure=true");

    assertThat(corrected()).doesNotContainKey(ENDPOINT);
  }

  @ParameterizedTest
  @ValueSource(strings = {"endpoint", "traces.endpoint"})
  void endpointWithACertificate_isKept(String endpoint) {
    give("certificate=/ca.pem");
    give(endpoint + "=https://collector:9");

    assertThat(corrected()).doesNotContainValue("https://localhost:4317");
  }

  @ParameterizedTest
  @CsvSource({
    "HTTPS://host:1, true, http://host:1",
    "HtTpS://host:1, true, http://host:1",
    "https://host:1, true, http://host:1",
    "http://host:1, false, http://host:1",
    "host:1, true, http://host:1",
    "host:1, false, https://host:1",
    "host:1, , https://host:1",
  })
  void insecure_overridesTheScheme_inAnyCase(String endpoint, Boolean insecure, String used) {
    assertThat(ExporterRules.effective(endpoint, insecure)).isEqualTo(used);
  }

  @ParameterizedTest
  @ValueSource(strings = {"connection", "Content-Length", "expect", "HOST", "upgrade"})
  void headerThatTheJdkRefuses_isRejected_onlyIfTheJdkSendsIt(String name) {
    give("headers=a=b," + name + "=secret");

    give("protocol=grpc");
    assertThat(corrected(new JdkSender())).containsKey(OTLP + "headers");
    give("protocol=http/protobuf");
    assertThat(corrected(new OtherSender())).containsKey(OTLP + "headers");
    assertThatThrownBy(() -> corrected(new JdkSender()))
        .isInstanceOf(ConfigurationException.class)
        .hasMessage(
            "OTEL_EXPORTER_OTLP_HEADERS sets the header '%s', which the JDK's HTTP client refuses;"
                + " remove it",
            name);
  }

  private void give(String setting) {
    int equals = setting.indexOf('=');
    given.put(OTLP + setting.substring(0, equals), setting.substring(equals + 1));
  }

  private Map<String, String> corrected() {
    return corrected(new OtherSender());
  }

  private Map<String, String> corrected(HttpSenderProvider sender) {
    ComponentLoader plugins =
        new ComponentLoader() {
          @Override
          public <T> Iterable<T> load(Class<T> spi) {
            return spi.isInstance(sender) ? List.of(spi.cast(sender)) : List.of();
          }
        };
    Map<String, String> corrected =
        Corrections.of(DefaultConfigProperties.create(given, plugins), warnings::add);
    assertThat(warnings).isEmpty();
    return corrected;
  }

  private static final class JdkSender implements HttpSenderProvider {
    @Override
    public HttpSender createSender(HttpSenderConfig config) {
      throw new UnsupportedOperationException();
    }
  }

  private static final class OtherSender implements HttpSenderProvider {
    @Override
    public HttpSender createSender(HttpSenderConfig config) {
      throw new UnsupportedOperationException();
    }
  }
}
