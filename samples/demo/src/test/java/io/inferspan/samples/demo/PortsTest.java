package io.inferspan.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PortsTest {

  /** The first ephemeral port on Linux. */
  private static final int FIRST_EPHEMERAL = 32_768;

  @Test
  void ports_areDistinct_andBelowTheEphemeralPorts() throws Exception {
    Ports ports = Ports.free();

    List<Integer> all =
        Stream.of(
                List.of(ports.page(), ports.otlpGrpc(), ports.otlpHttp(), ports.gateway()),
                ports.sidecars(),
                ports.decoders(),
                ports.prefillers(),
                ports.kvEvents(),
                List.of(ports.batchEngine(), ports.batchGateway()))
            .flatMap(List::stream)
            .toList();
    assertThat(all).doesNotHaveDuplicates().allMatch(port -> port < FIRST_EPHEMERAL);
  }
}
