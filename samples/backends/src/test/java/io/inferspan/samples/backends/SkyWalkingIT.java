package io.inferspan.samples.backends;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests with a SkyWalking server: OTLP over gRPC, and Zipkin's query API. */
class SkyWalkingIT {

  private static final Path FOLDER = Path.of("skywalking");
  private static final Path JARS = FOLDER.resolve("target").resolve("lib");

  @Test
  void trace_isReturnedAsItWasSent() throws Exception {
    assumeTrue(
        Files.isDirectory(JARS),
        "needs the server's jars: mvn -q -f samples/backends/skywalking process-test-resources");
    int otlp = BackendProcess.freePort();
    int query = BackendProcess.freePort();
    try (BackendProcess server =
        BackendProcess.java(
            List.of(
                "-Xmx512m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                FOLDER.resolve("config") + File.pathSeparator + JARS + "/*",
                "org.apache.skywalking.oap.server.starter.OAPServerStartUp"),
            Map.of(
                "SW_CORE_GRPC_PORT", Integer.toString(otlp),
                "SW_CORE_REST_PORT", Integer.toString(BackendProcess.freePort()),
                "SW_QUERY_ZIPKIN_REST_PORT", Integer.toString(query)))) {
      String url = "http://127.0.0.1:" + query + "/zipkin";
      server.awaitReady(url + "/api/v2/services");

      SentTrace sent =
          SentTrace.send(Map.of("otel.exporter.otlp.endpoint", "http://127.0.0.1:" + otlp));

      String trace =
          server.await(
              url + "/api/v2/trace/" + sent.traceId(),
              json -> ZipkinSpans.parse(json).size() == 2,
              Duration.ofSeconds(20));
      ZipkinSpans.parse(trace).assertAre(sent);
    }
  }
}
