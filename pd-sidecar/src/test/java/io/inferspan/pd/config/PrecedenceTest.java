package io.inferspan.pd.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrecedenceTest {

  private static final String DEFAULTS =
      """
      {port=8000
      data-parallel-size=1
      secure-proxy=true
      cert-path=
      shutdown-timeout=PT1M
      transport=auto
      event-loops=0
      model-server-port=8200
      enable-tls=[]
      tls-insecure-skip-verify=[]
      tls-ca-file=
      max-idle-conns-per-host=1024
      kv-connector=nixlv2
      ec-connector=
      mooncake-bootstrap-port=8998
      sglang-bootstrap-port=8998
      p2p-connector-port=7777
      enable-p2p-pull=false
      decode-chunk-size=0
      pod-ip=
      enable-prefiller-sampling=false
      prefill-max-retries=0
      prefill-retry-backoff=PT0.2S
      prefill-timeout=PT2M
      prefill-linger-timeout=PT10M
      enable-ssrf-protection=false
      inference-pool=null
      pool-group=inference.networking.k8s.io
      allow-target=[]
      allow-targets-file=
      moriio-write-mode=false
      moriio-parallel-dispatch=false
      moriio-parallel-decode-wait-timeout=PT30S
      moriio-local-pod-ip=null
      moriio-decode-notify-port=61005
      moriio-decode-handshake-port=6301
      moriio-prefill-notify-port=61005
      moriio-prefill-handshake-port=6301
      moriio-tp-size=1
      moriio-dp-size=1
      moriio-dp-size-local=0
      moriio-remote-hosts=[]
      moriio-decode-hosts=[]
      moriio-dns-resolve-ttl-seconds=30
      moriio-dns-resolve-timeout-seconds=5
      body-limit=67108864
      held-bodies-limit=201326592
      body-timeout=PT5M
      body-min-rate=4096
      json-depth-limit=512
      max-header-bytes=1048576
      tracing=false
      metrics-port=0
      zap-log-level=INFO
      configuration=
      configuration-file=}
      """;

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
  void flagOverridesYaml_yamlEnvironment_environmentDefault(int sources) throws ConfigException {
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
            .get(Settings.P2P_CONNECTOR_PORT);

    assertThat(port).isEqualTo(flag ? 7001 : yaml ? 7002 : env ? 7003 : 7777);
  }

  @Test
  void flagThatIsFalse_overridesYamlThatIsTrue() throws ConfigException {
    assertThat(Parsed.yaml("tracing: true", "--tracing=false").get(Settings.TRACING)).isFalse();
    assertThat(Parsed.yaml("tracing: true").get(Settings.TRACING)).isTrue();
  }

  @Test
  void listInAFlag_replacesTheListInYaml() throws ConfigException {
    assertThat(Parsed.yaml("allow-target: [a, b]", "--allow-target=c").get(Settings.ALLOW_TARGET))
        .containsExactly("c");
  }

  @Test
  void defaults_areThoseOfLlmD() throws ConfigException {
    SidecarConfig config = Parsed.config();

    assertThat(Parsed.values(config).toString().replace(", ", "\n"))
        .isEqualToIgnoringWhitespace(DEFAULTS);
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

    assertThat(config.get(Settings.MOONCAKE_BOOTSTRAP_PORT)).isEqualTo(9001);
    assertThat(config.get(Settings.SGLANG_BOOTSTRAP_PORT)).isEqualTo(9002);
    assertThat(config.get(Settings.ENABLE_PREFILLER_SAMPLING)).isTrue();
    assertThat(config.pool()).isEqualTo(new SidecarConfig.PoolName("ns", "pool"));
    assertThat(config.get(Settings.METRICS_PORT)).isEqualTo(9090);
    assertThat(
            Parsed.config(Map.of("MORIIO_METRICS_ADDR", "[::1]:9091")).get(Settings.METRICS_PORT))
        .isEqualTo(9091);
  }

  @Test
  void malformedEnvironmentVariable_isIgnoredWithANote() throws ConfigException {
    SidecarConfig config =
        Parsed.config(
            Map.of("SGLANG_BOOTSTRAP_PORT", "tcp://10.0.0.1:80", "POD_IP", " ", "PORT", "1"));

    assertThat(config.get(Settings.SGLANG_BOOTSTRAP_PORT)).isEqualTo(8998);
    assertThat(config.orNull(Settings.POD_IP)).isNull();
    assertThat(config.notes())
        .containsExactly(
            "the environment variable SGLANG_BOOTSTRAP_PORT is \"tcp://10.0.0.1:80\" and is"
                + " ignored: it must be a whole number from 1 to 65535");
  }
}
