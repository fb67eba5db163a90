package io.inferspan.pd.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrecedenceTest {

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
  void flag_winsOverYamlOverEnvironmentOverDefault(int sources) throws ConfigException {
    boolean flag = (sources & 4) != 0;
    boolean yaml = (sources & 2) != 0;
    boolean env = (sources & 1) != 0;
    String[] args =
        List.of(
                flag ? "--p2p-connector-port=7001" : "--",
                yaml ? "--configuration={p2p-connector-port: 7002}" : "--")
            .stream()
            .filter(arg -> !arg.equals("--"))
            .toArray(String[]::new);

    int port =
        Parsed.config(env ? Map.of("P2P_CONNECTOR_PORT", "7003") : Map.of(), args)
            .connectors()
            .p2pPort();

    assertThat(port).isEqualTo(flag ? 7001 : yaml ? 7002 : env ? 7003 : 7777);
  }

  @Test
  void flagThatIsFalse_winsOverYamlThatIsTrue() throws ConfigException {
    assertThat(Parsed.yaml("tracing: true", "--tracing=false").tracing()).isFalse();
    assertThat(Parsed.yaml("tracing: true").tracing()).isTrue();
  }

  @Test
  void listOfTheFlag_replacesThatOfYaml() throws ConfigException {
    assertThat(Parsed.yaml("allow-target: [a, b]", "--allow-target=c").allowList().allowedTargets())
        .containsExactly("c");
  }

  @Test
  void defaults_areThoseOfLlmD() throws ConfigException {
    SidecarConfig config = Parsed.config();

    assertThat(config.listening())
        .isEqualTo(
            new SidecarConfig.Listening(
                8000, true, null, 0, 1, Duration.ofSeconds(60), SidecarConfig.Transport.AUTO, 0));
    assertThat(config.upstream())
        .isEqualTo(new SidecarConfig.Upstream(8200, Set.of(), Set.of(), null, 1024));
    assertThat(config.connectors())
        .isEqualTo(
            new SidecarConfig.Connectors(
                KvConnector.named("nixlv2"),
                SidecarConfig.EcConnector.NONE,
                8998,
                8998,
                7777,
                false,
                0,
                null));
    assertThat(config.prefill())
        .isEqualTo(
            new SidecarConfig.Prefill(
                false, 0, Duration.ofMillis(200), Duration.ofMinutes(2), Duration.ofMinutes(10)));
    assertThat(config.allowList())
        .isEqualTo(
            new SidecarConfig.AllowListConfig(
                false, null, "inference.networking.k8s.io", List.of(), null));
    assertThat(config.moriIo())
        .isEqualTo(
            new SidecarConfig.MoriIo(
                false,
                false,
                61005,
                6301,
                61005,
                6301,
                null,
                Duration.ofSeconds(30),
                1,
                1,
                0,
                List.of(),
                List.of(),
                Duration.ofSeconds(30),
                Duration.ofSeconds(5)));
    assertThat(config.limits())
        .isEqualTo(
            new SidecarConfig.Limits(
                64 << 20, 192 << 20, Duration.ofMinutes(5), 4 << 10, 512, 1 << 20));
    assertThat(config.tracing()).isFalse();
    assertThat(config.logLevel()).isEqualTo(Level.INFO);
    assertThat(config.notes()).isEmpty();
  }

  @Test
  void environment_isRead() throws ConfigException {
    SidecarConfig config =
        Parsed.config(
            Map.of(
                "MOONCAKE_BOOTSTRAP_PORT", "9001",
                "SGLANG_BOOTSTRAP_PORT", "9002",
                "ENABLE_PREFILLER_SAMPLING", "T",
                "INFERENCE_POOL", "ns/pool",
                "MORIIO_METRICS_ADDR", ":9090"));

    assertThat(config.connectors().mooncakeBootstrapPort()).isEqualTo(9001);
    assertThat(config.connectors().sglangBootstrapPort()).isEqualTo(9002);
    assertThat(config.prefill().sampling()).isTrue();
    assertThat(config.allowList().pool()).isEqualTo(new SidecarConfig.PoolName("ns", "pool"));
    assertThat(config.listening().metricsPort()).isEqualTo(9090);
    assertThat(Parsed.config(Map.of("MORIIO_METRICS_ADDR", "[::1]:9091")).listening().metricsPort())
        .isEqualTo(9091);
  }

  @Test
  void environmentWithoutTheRightForm_isIgnoredWithANote() throws ConfigException {
    SidecarConfig config =
        Parsed.config(
            Map.of("SGLANG_BOOTSTRAP_PORT", "tcp://10.0.0.1:80", "POD_IP", " ", "PORT", "1"));

    assertThat(config.connectors().sglangBootstrapPort()).isEqualTo(8998);
    assertThat(config.connectors().podIp()).isNull();
    assertThat(config.notes())
        .containsExactly(
            "the environment variable SGLANG_BOOTSTRAP_PORT is \"tcp://10.0.0.1:80\" and is"
                + " ignored: it must be a whole number from 1 to 65535");
  }
}
