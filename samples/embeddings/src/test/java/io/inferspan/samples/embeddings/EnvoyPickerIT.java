package io.inferspan.samples.embeddings;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.config.route.v3.RouteAction;
import io.inferspan.extproc.EnvoyStandIn;
import io.inferspan.extproc.EnvoyStandIn.Setup;
import io.inferspan.extproc.proto.Envoy.BodyMode;
import io.inferspan.extproc.wire.ProcessingRequest.Modes;
import io.inferspan.samples.embeddings.RunningProgram.Command;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests the picker with Envoy's configuration, without Envoy itself. */
class EnvoyPickerIT {

  private static final Path YAML = Path.of("envoy.yaml");

  @Test
  void requestThroughTheFilter_leavesOneTrace() throws Exception {
    EnvoyConfiguration envoy = EnvoyConfiguration.read(YAML);
    try (TestEnvironment around = new TestEnvironment();
        RunningProgram picker =
            Command.of(EnvoyPicker.class)
                .start(around.engine().authority(), around.collector().endpoint());
        EnvoyStandIn filter = new EnvoyStandIn(picker.port(), setup(envoy))) {
      assertThat(around.ask(filter.port()).body()).contains("data: [DONE]");
      assertThat(around.engine().requests().getFirst().headers("traceparent")).hasSize(1);
      assertThatSpans(
              around.collector().awaitTrace(TestEnvironment.TRACE, 8, Duration.ofSeconds(10)))
          .ignoringSiblingOrder()
          .hasTree(
              """
              gateway.request [SERVER] {gen_ai.request.model=tiny, http.response.status_code=200}
                run_scheduler_profile [INTERNAL]
                  filter_endpoints [INTERNAL]
                  llm_d.epp.scoring [INTERNAL]
                    llm_d.epp.scorer.prefix-cache-scorer [INTERNAL]
                    llm_d.epp.scorer.no-hit-lru-scorer [INTERNAL]
                  pick_endpoints [INTERNAL]
                llm_request [SERVER]
              """);
    }
  }

  @Test
  void portInUse_isReportedInOneSentence() throws Exception {
    try (ServerSocket taken = new ServerSocket(0)) {
      ProcessBuilder command =
          new ProcessBuilder(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-cp",
              System.getProperty("java.class.path"),
              EnvoyPicker.class.getName(),
              "127.0.0.1:8000",
              Integer.toString(taken.getLocalPort()));
      command.environment().put("OTEL_TRACES_EXPORTER", "none");
      Process picker = command.redirectErrorStream(true).start();
      String said = new String(picker.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

      assertThat(said)
          .contains("cannot listen on port " + taken.getLocalPort() + ": ")
          .doesNotContain("\tat ");
      assertThat(picker.waitFor()).isEqualTo(1);
    }
  }

  private static Setup setup(EnvoyConfiguration envoy) throws Exception {
    var mode = envoy.processor().getProcessingMode();
    return Setup.of(
        BodyMode.valueOf(mode.getRequestBodyMode().name()),
        BodyMode.valueOf(mode.getResponseBodyMode().name()));
  }

  @Test
  void configuration_sendsBothBodiesToThePicker_inSupportedModes() throws Exception {
    var mode = EnvoyConfiguration.read(YAML).processor().getProcessingMode();

    BodyMode request = BodyMode.valueOf(mode.getRequestBodyMode().name());
    assertThat(new Modes(request, BodyMode.NONE).holdsHeaders()).isTrue();
    assertThat(mode.getResponseBodyMode().name()).isEqualTo(BodyMode.FULL_DUPLEX_STREAMED.name());
    // In these two modes, Envoy requires trailers.
    assertThat(mode.getRequestTrailerMode().name()).isEqualTo("SEND");
    assertThat(mode.getResponseTrailerMode().name()).isEqualTo("SEND");
  }

  @Test
  void configuration_sendsRequestsWhereThePickerSays() throws Exception {
    EnvoyConfiguration envoy = EnvoyConfiguration.read(YAML);
    RouteAction route =
        envoy.connectionManager().getRouteConfig().getVirtualHosts(0).getRoutes(0).getRoute();

    assertThat(envoy.cluster(route.getCluster()).getOriginalDstLbConfig())
        .satisfies(original -> assertThat(original.getUseHttpHeader()).isTrue())
        .satisfies(
            original ->
                assertThat(original.getHttpHeaderName())
                    .isEqualTo("x-gateway-destination-endpoint"));
    String picker = envoy.processor().getGrpcService().getEnvoyGrpc().getClusterName();
    assertThat(envoy.cluster(picker).getTypedExtensionProtocolOptionsMap())
        .containsKey("envoy.extensions.upstreams.http.v3.HttpProtocolOptions");
  }

  @Test
  void fieldThatEnvoyDoesNotKnow_isFound() throws Exception {
    String wrong = Files.readString(YAML).replace("request_header_mode", "request_headers_mode");

    assertThatThrownBy(() -> EnvoyConfiguration.parse(wrong))
        .isInstanceOf(InvalidProtocolBufferException.class)
        .hasMessageContaining("request_headers_mode");
  }
}
