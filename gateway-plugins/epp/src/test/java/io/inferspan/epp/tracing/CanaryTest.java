package io.inferspan.epp.tracing;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.epp.plugins.disagg.Decider;
import io.inferspan.epp.plugins.disagg.PdProfileHandler;
import io.inferspan.testing.Canary;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.context.Context;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Confidential contents of a request do not appear in spans and logs. */
final class CanaryTest {

  private static final Logger LOGGER = Logger.getLogger("io.inferspan");
  private static final int FIRST_TOKEN = 987_654_000;

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final List<String> logged = new ArrayList<>();
  private final Handler log =
      new Handler() {
        @Override
        public void publish(LogRecord message) {
          logged.add(message.getMessage() + List.of(message.getParameters()) + message.getThrown());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  @BeforeEach
  void listen() {
    LOGGER.setLevel(Level.ALL);
    LOGGER.addHandler(log);
  }

  @AfterEach
  void stopListening() {
    LOGGER.removeHandler(log);
    LOGGER.setLevel(null);
  }

  private static InferenceRequest secretive(String secret) {
    return InferenceRequest.to("m")
        .id("r")
        .input(secret.getBytes(StandardCharsets.UTF_8))
        .tokens(Fleet.tokens(FIRST_TOKEN, 400))
        .headers(
            Map.of(
                "authorization", "Bearer " + secret,
                "cookie", secret,
                "x-session-id", secret,
                "x-session-token", secret,
                "x-prefiller-host-port", secret))
        .build();
  }

  @Test
  void promptTokensAndHeaders_stayHere() {
    Canary canary = Canary.random();
    for (SpanNaming naming : SpanNaming.values()) {
      for (String secret : canary.planted()) {
        new PdScheduling(tracing.openTelemetry(), naming, new PdProfileHandler(Decider.always()))
            .schedule(secretive(secret));
      }
    }
    nothingLeaked(canary);
  }

  @Test
  void exceptionsOfPlugins_areRecordedWithoutMessage() {
    Canary canary = Canary.random();
    Decider broken =
        (cycle, decode) -> {
          throw new IllegalStateException(canary.marker());
        };
    for (ProfileHandler.Shape shape : ProfileHandler.Shape.values()) {
      new PdScheduling(tracing.openTelemetry(), SpanNaming.CURRENT, shaped(broken, shape))
          .schedule(secretive("nothing"));
    }
    nothingLeaked(canary);
    assertThat(logged).as("a failure without a span").isNotEmpty();
  }

  /** A handler whose decider is asked, however its decisions are recorded. */
  private static ProfileHandler shaped(Decider decider, ProfileHandler.Shape shape) {
    PdProfileHandler handler = new PdProfileHandler(decider);
    return new ProfileHandler() {
      @Override
      public String type() {
        return handler.type();
      }

      @Override
      public Shape shape() {
        return shape;
      }

      @Override
      public Pick pick(
          Cycle cycle, Set<String> profiles, Map<String, List<Endpoint>> results, Context context) {
        return handler.pick(cycle, profiles, results, context);
      }

      @Override
      public SchedulingResult conclude(Cycle cycle, Map<String, List<Endpoint>> results) {
        return handler.conclude(cycle, results);
      }
    };
  }

  private void nothingLeaked(Canary canary) {
    assertThat(tracing.spans()).isNotEmpty();
    String spans = tracing.spans().toString();
    canary.assertAbsentFrom(
        spans.getBytes(StandardCharsets.UTF_8), logged.toString().getBytes(StandardCharsets.UTF_8));
    assertThat(withoutRandomDigits(spans) + logged).doesNotContain("987654");
  }

  /** Identifiers and times, which may contain any six digits by chance, taken out. */
  private static String withoutRandomDigits(String spans) {
    return spans.replaceAll("(?i)(traceId|spanId|epochNanos)=[0-9a-f]+", "$1");
  }
}
