package io.inferspan.pd.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.config.SidecarConfig.PoolName;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RulesTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --port=0 --data-parallel-size=2 | port must be at least 1 if data-parallel-size is 2, but is "0" (from --port)
          --port=-1 | port must be a whole number from 0 to 65535, but is "-1" (from --port)
          --port=65536 | port must be a whole number from 0 to 65535, but is "65536" (from --port)
          --port=abc | port must be a whole number from 0 to 65535, but is "abc" (from --port)
          --port= | port must be a whole number from 0 to 65535, but is "" (from --port)
          --vllm-port=x | model-server-port must be a whole number from 1 to 65535, but is "x" (from --vllm-port)
          --data-parallel-size=0 | data-parallel-size must be a whole number from 1 to 65535, but is "0" (from --data-parallel-size)
          --port=65534 --data-parallel-size=3 | port must be at most 65533 if data-parallel-size is 3, but is "65534" (from --port)
          --model-server-port=65534 --data-parallel-size=3 | model-server-port must be at most 65533 if data-parallel-size is 3, but is "65534" (from --model-server-port)
          --p2p-connector-port=65535 --data-parallel-size=2 | p2p-connector-port must be at most 65534 if data-parallel-size is 2, but is "65535" (from --p2p-connector-port)
          --port=8200 | model-server-port must be at least 1 (data-parallel-size) apart from port, which is 8200, but is "8200" (from the default)
          --data-parallel-size=201 | model-server-port must be at least 201 (data-parallel-size) apart from port, which is 8000, but is "8200" (from the default)
          --metrics-port=8000 | metrics-port must be a port that neither port nor model-server-port uses, but is "8000" (from --metrics-port)
          --metrics-port=8201 --data-parallel-size=2 | metrics-port must be a port that neither port nor model-server-port uses, but is "8201" (from --metrics-port)
          --kv-connector=nixl | kv-connector must be one of nixlv2, mooncake, offloading, sglang, shared-storage, but is "nixl" (from --kv-connector)
          --ec-connector=x | ec-connector must be one of ec-example, ec-nixl, or empty, but is "x" (from --ec-connector)
          --enable-tls=prefiller,x | enable-tls must be some of prefiller, decoder, encoder, separated by commas, but is "prefiller,x" (from --enable-tls)
          --tls-insecure-skip-verify=x | tls-insecure-skip-verify must be some of prefiller, decoder, encoder, separated by commas, but is "x" (from --tls-insecure-skip-verify)
          --enable-p2p-pull --kv-connector=sglang | enable-p2p-pull must be false if kv-connector is sglang, but is "true" (from --enable-p2p-pull)
          --decode-chunk-size=-1 | decode-chunk-size must be a whole number, 0 or more, but is "-1" (from --decode-chunk-size)
          --prefill-max-retries=1 --prefill-retry-backoff=0 | prefill-retry-backoff must be longer than 0 if prefill-max-retries is set, but is "0" (from --prefill-retry-backoff)
          --prefill-retry-backoff=-1s | prefill-retry-backoff must be a duration of 0 or more such as 200ms, 1.5s or 1m30s, but is "-1s" (from --prefill-retry-backoff)
          --prefill-retry-backoff=5 | prefill-retry-backoff must be a duration of 0 or more such as 200ms, 1.5s or 1m30s, but is "5" (from --prefill-retry-backoff)
          --inference-pool=a/b/c | inference-pool must be namespace/name or name, but is "a/b/c" (from --inference-pool)
          --inference-pool=/b | inference-pool must be namespace/name or name, but is "/b" (from --inference-pool)
          --inference-pool=a/ | inference-pool must be namespace/name or name, but is "a/" (from --inference-pool)
          --pool-group= | pool-group must be the API group of the InferencePool, but is "" (from --pool-group)
          --enable-ssrf-protection | enable-ssrf-protection must be false unless --inference-pool (or INFERENCE_POOL), --allow-target or --allow-targets-file is set, but is "true" (from --enable-ssrf-protection)
          --allow-target=10.0.0.1:80 | allow-target must be a host name, an IP or a CIDR without port, but is "10.0.0.1:80" (from --allow-target)
          --moriio-write-mode | moriio-write-mode must be false unless --moriio-local-pod-ip (or POD_IP) is set, but is "true" (from --moriio-write-mode)
          --moriio-parallel-dispatch | moriio-parallel-dispatch must be false without --moriio-write-mode, but is "true" (from --moriio-parallel-dispatch)
          --moriio-parallel-dispatch --moriio-write-mode --pod-ip=a --moriio-parallel-decode-wait-timeout=0 | moriio-parallel-decode-wait-timeout must be longer than 0 if moriio-parallel-dispatch is on, but is "0" (from --moriio-parallel-decode-wait-timeout)
          --moriio-remote-hosts=a,b --moriio-dp-size=16 | moriio-dp-size-local must be a divisor of moriio-dp-size 16 if moriio-remote-hosts names 2 hosts, but is "0" (from the default)
          --moriio-decode-hosts=a,b --moriio-dp-size=15 --moriio-dp-size-local=8 | moriio-dp-size-local must be a divisor of moriio-dp-size 15 if moriio-decode-hosts names 2 hosts, but is "8" (from --moriio-dp-size-local)
          --moriio-remote-hosts=a,b,c --moriio-dp-size=16 --moriio-dp-size-local=8 | moriio-remote-hosts must be 2 hosts (moriio-dp-size / moriio-dp-size-local), but is "a,b,c" (from --moriio-remote-hosts)
          --body-limit=0 | body-limit must be a size from 1 to 2047MiB such as 65536, 64KiB or 8MiB, but is "0" (from --body-limit)
          --body-limit=64MB | body-limit must be a size from 1 to 2047MiB such as 65536, 64KiB or 8MiB, but is "64MB" (from --body-limit)
          --held-bodies-limit=1MiB | held-bodies-limit must be at least the body-limit, which is 67108864, but is "1MiB" (from --held-bodies-limit)
          --body-limit=193MiB | held-bodies-limit must be at least the body-limit, which is 202375168, but is "192MiB" (from the default)
          --json-depth-limit=0 | json-depth-limit must be a whole number from 1 to 10000, but is "0" (from --json-depth-limit)
          --transport=kqueue | transport must be one of auto, nio, epoll, io_uring, but is "kqueue" (from --transport)
          --event-loops=-1 | event-loops must be a whole number from 0 to 1024, but is "-1" (from --event-loops)
          """)
  void invalidCombination_isRefusedInOneSentence(String args, String message) {
    assertThat(Parsed.refusal(args.strip().split(" "))).isEqualTo(message);
  }

  @Test
  void message_namesTheSource() {
    assertThat(Parsed.refusal(Map.of("P2P_CONNECTOR_PORT", "70000")))
        .isEqualTo(
            "p2p-connector-port must be a whole number from 1 to 65535, but is \"70000\""
                + " (from the environment variable P2P_CONNECTOR_PORT)");
    assertThat(Parsed.refusal("--configuration={port: 70000}"))
        .isEqualTo(
            "failed to unmarshal sidecar configuration: port must be a whole number from 0 to"
                + " 65535, but is \"70000\" (from the YAML key port)");
    assertThat(Parsed.refusal(Map.of("INFERENCE_POOL", "/x")))
        .isEqualTo(
            "inference-pool must be namespace/name or name, but is \"/x\""
                + " (from the environment variable INFERENCE_POOL)");
  }

  @Test
  void poolWithoutNamespace_isInTheDefaultNamespace() throws ConfigException {
    assertThat(Parsed.config("--inference-pool=p").pool()).isEqualTo(new PoolName("default", "p"));
    assertThat(Parsed.config("--inference-pool", "n/p").pool()).isEqualTo(new PoolName("n", "p"));
    assertThat(Parsed.config("--inference-pool=").pool()).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"--inference-pool=p", "--allow-target=10.0.0.0/8", "--allow-targets-file=/x"})
  void ssrfProtection_needsOneOfThreeSettings(String flag) throws ConfigException {
    SidecarConfig config = Parsed.config("--enable-ssrf-protection", flag);

    assertThat(config.get(Settings.ENABLE_SSRF_PROTECTION)).isTrue();
    assertThat(config.notes()).isEmpty();
  }

  @Test
  void targetsWithoutProtection_areNoted() throws ConfigException {
    assertThat(Parsed.config("--allow-target=a").notes())
        .containsExactly(
            "allow-target and allow-targets-file do nothing without --enable-ssrf-protection");
  }

  @Test
  void lastRank_mayUsePort65535() throws ConfigException {
    assertThat(
            Parsed.config("--port=65534", "--data-parallel-size=2")
                .get(Settings.DATA_PARALLEL_SIZE))
        .isEqualTo(2);
  }

  @Test
  void allMoriIoSettings_areRead() throws ConfigException {
    SidecarConfig config =
        Parsed.config(
            Map.of("POD_IP", "10.0.0.9", "MORIIO_DNS_RESOLVE_TTL_SECONDS", "7"),
            "--moriio-write-mode",
            "--moriio-parallel-dispatch",
            "--moriio-dp-size=16",
            "--moriio-dp-size-local=8",
            "--moriio-remote-hosts=a,b",
            "--moriio-decode-hosts=c",
            "--moriio-decode-hosts=d");

    assertThat(config.localPodIp()).isEqualTo("10.0.0.9");
    assertThat(config.orNull(Settings.POD_IP)).isEqualTo("10.0.0.9");
    assertThat(config.get(Settings.MORIIO_DNS_RESOLVE_TTL)).isEqualTo(7);
    assertThat(config.get(Settings.MORIIO_DNS_RESOLVE_TIMEOUT)).isEqualTo(5);
    assertThat(config.get(Settings.MORIIO_REMOTE_HOSTS)).isEqualTo(List.of("a", "b"));
    assertThat(config.get(Settings.MORIIO_DECODE_HOSTS)).isEqualTo(List.of("c", "d"));
    assertThat(Parsed.config("--moriio-local-pod-ip=x", "--pod-ip=y").localPodIp()).isEqualTo("x");
  }

  @Test
  void writeModeOfAnotherConnector_isNoted() throws ConfigException {
    assertThat(Parsed.config("--moriio-write-mode", "--pod-ip=a", "--kv-connector=sglang").notes())
        .containsExactly("moriio-write-mode does nothing if kv-connector is sglang");
  }
}
