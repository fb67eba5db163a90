package io.inferspan.pd.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.config.SidecarConfig.PoolName;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DeprecatedTest {

  @Test
  void oldFlags_workAndAreNotedOnceEach() throws ConfigException {
    SidecarConfig config =
        Parsed.config(
            "--vllm-port=8001",
            "--vllm-port=8002",
            "--connector=lmcache",
            "--prefiller-use-tls",
            "--decoder-use-tls=true",
            "--prefiller-tls-insecure-skip-verify=true",
            "--decoder-tls-insecure-skip-verify",
            "--inference-pool-namespace=ns",
            "--inference-pool-name=pool");

    assertThat(config.get(Settings.MODEL_SERVER_PORT)).isEqualTo(8002);
    assertThat(config.kvConnector()).isEqualTo(KvConnector.named("shared-storage"));
    assertThat(config.tls()).containsOnly("prefiller", "decoder");
    assertThat(config.skipVerify()).containsOnly("prefiller", "decoder");
    assertThat(config.pool()).isEqualTo(new PoolName("ns", "pool"));
    assertThat(config.notes())
        .containsExactlyInAnyOrder(
            "--vllm-port is deprecated: use --model-server-port",
            "--connector is deprecated: use --kv-connector",
            "kv-connector lmcache (from --connector) is deprecated:"
                + " use --kv-connector=shared-storage",
            "--prefiller-use-tls is deprecated: use --enable-tls=prefiller",
            "--decoder-use-tls is deprecated: use --enable-tls=decoder",
            "--prefiller-tls-insecure-skip-verify is deprecated:"
                + " use --tls-insecure-skip-verify=prefiller",
            "--decoder-tls-insecure-skip-verify is deprecated:"
                + " use --tls-insecure-skip-verify=decoder",
            "--inference-pool-namespace is deprecated: use --inference-pool=namespace/name",
            "--inference-pool-name is deprecated: use --inference-pool=namespace/name");
  }

  @Test
  void oldEnvironment_worksAndIsNoted() throws ConfigException {
    SidecarConfig config =
        Parsed.config(
            Map.of("INFERENCE_POOL_NAMESPACE", "ns", "INFERENCE_POOL_NAME", "pool"),
            "--enable-ssrf-protection=true");

    assertThat(config.pool()).isEqualTo(new PoolName("ns", "pool"));
    assertThat(config.notes())
        .containsExactly(
            "the environment variable INFERENCE_POOL_NAMESPACE is deprecated:"
                + " use --inference-pool=namespace/name",
            "the environment variable INFERENCE_POOL_NAME is deprecated:"
                + " use --inference-pool=namespace/name");
  }

  @Test
  void newName_overridesTheOldNameOfTheSameSource() throws ConfigException {
    assertThat(
            Parsed.config("--model-server-port=8300", "--vllm-port=8001")
                .get(Settings.MODEL_SERVER_PORT))
        .isEqualTo(8300);
    assertThat(Parsed.yaml("{connector: nixlv2, kv-connector: sglang}").kvConnector())
        .isEqualTo(KvConnector.named("sglang"));
  }

  @Test
  void oldFlag_overridesTheNewYamlKey() throws ConfigException {
    assertThat(
            Parsed.yaml("model-server-port: 8300", "--vllm-port=8001")
                .get(Settings.MODEL_SERVER_PORT))
        .isEqualTo(8001);
  }

  @Test
  void oldBoolean_addsItsStage_unlessASourceOfHigherPrecedenceHasTheList() throws ConfigException {
    assertThat(Parsed.yaml("{enable-tls: [decoder], prefiller-use-tls: false}").tls())
        .containsOnly("decoder");
    assertThat(Parsed.yaml("{enable-tls: [encoder], prefiller-use-tls: true}").tls())
        .containsOnly("encoder", "prefiller");
    assertThat(Parsed.yaml("{enable-tls: [encoder]}", "--prefiller-use-tls").tls())
        .containsOnly("encoder", "prefiller");
    assertThat(Parsed.yaml("{decoder-use-tls: true}", "--enable-tls=encoder").tls())
        .containsOnly("encoder");
  }

  @Test
  void sourceOfHigherPrecedence_namesThePool() throws ConfigException {
    Map<String, String> env = Map.of("INFERENCE_POOL", "a/b");
    assertThat(Parsed.config(env, "--inference-pool-name=c").pool())
        .isEqualTo(new PoolName("default", "c"));
    assertThat(Parsed.config(Map.of("INFERENCE_POOL", "a/b", "INFERENCE_POOL_NAME", "c")).pool())
        .isEqualTo(new PoolName("a", "b"));
  }

  @Test
  void alternativeName_isEquivalent() throws ConfigException {
    SidecarConfig config = Parsed.config("--secure-serving=false");

    assertThat(config.get(Settings.SECURE_PROXY)).isFalse();
    assertThat(config.notes()).isEmpty();
  }
}
