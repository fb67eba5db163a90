package io.inferspan.samples.backends;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests with a Zipkin server, and the Zipkin exporter, which Inferspan does not depend on. */
class ZipkinIT {

  private static final Path SERVER = Path.of("target", "zipkin", "zipkin-server-exec.jar");

  @Test
  void trace_isReturnedAsItWasSent() throws Exception {
    int port = BackendProcess.freePort();
    try (BackendProcess zipkin =
        BackendProcess.java(
            List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-jar", SERVER.toString()),
            Map.of("QUERY_PORT", Integer.toString(port)))) {
      String url = "http://127.0.0.1:" + port;
      zipkin.awaitReady(url + "/health");

      SentTrace sent =
          SentTrace.send(
              Map.of(
                  "otel.traces.exporter",
                  "zipkin",
                  "otel.exporter.zipkin.endpoint",
                  url + "/api/v2/spans"));

      String trace =
          zipkin.await(
              url + "/api/v2/trace/" + sent.traceId(),
              json -> ZipkinSpans.parse(json).size() == 2,
              Duration.ofSeconds(10));
      ZipkinSpans.parse(trace).assertAre(sent);
    }
  }
}
