package io.inferspan;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.SpanCatalog;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.exporter.ExportAccounting;
import io.inferspan.privacy.AttributePolicy;
import io.inferspan.privacy.OwnScopes;
import io.inferspan.recording.SpanPipeline;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.GenAiConvention;
import io.inferspan.setup.Settings;
import io.inferspan.setup.TrustedCallers;
import io.inferspan.testing.ManualClock;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Compares the OTLP/JSON of each span of the catalogue with a golden file, for each naming scheme
 * and GenAI convention: one span per line, without the version.
 *
 * <p>After an intended change, {@code -Dgolden.write=true} rewrites the files.
 */
class GoldenOtlpTest {

  private static final Path GOLDEN = Path.of("src/test/resources/golden");

  private final InMemorySpanExporter exported = InMemorySpanExporter.create();
  private final ManualClock clock = ManualClock.create();
  private long nextId = 1;

  @ParameterizedTest
  @CsvSource({
    "PROPOSAL,LEGACY",
    "PROPOSAL,LATEST",
    "PROPOSAL,BOTH",
    "V0_9,LEGACY",
    "CURRENT,LEGACY"
  })
  void catalogue_isWrittenAsBefore(SpanNaming naming, GenAiConvention convention)
      throws IOException {
    startAndEndAll(factory(naming, convention));

    String json =
        exported.getFinishedSpanItems().stream()
            .map(span -> OtlpJsonLines.written(List.of(span)))
            .collect(Collectors.joining())
            .replace(BuildInfo.VERSION, "VERSION");
    Path golden = GOLDEN.resolve(fileName(naming, convention));
    if (Boolean.getBoolean("golden.write")) {
      Files.createDirectories(GOLDEN);
      Files.writeString(golden, json);
    }
    assertThat(json).isEqualTo(Files.readString(golden));
  }

  private static String fileName(SpanNaming naming, GenAiConvention convention) {
    return naming.setting() + "." + convention.name().toLowerCase(Locale.ROOT) + ".json";
  }

  private SpanFactory factory(SpanNaming naming, GenAiConvention convention) {
    SpanPipeline pipeline =
        new SpanPipeline(
            Resource.create(Attributes.of(AttributeKey.stringKey("service.name"), "golden")),
            Sampler.alwaysOn(),
            SimpleSpanProcessor.create(exported),
            SpanLimits.getDefault(),
            new IdGenerator() {
              @Override
              public String generateTraceId() {
                return "%032x".formatted(nextId++);
              }

              @Override
              public String generateSpanId() {
                return "%016x".formatted(nextId++);
              }
            },
            clock,
            new ExportAccounting(1_000_000));
    Policies policies =
        new Policies(
            naming,
            convention,
            false,
            new AttributePolicy(List.of()),
            new OwnScopes("commit"),
            TrustedCallers.of(new Settings(Map.of())));
    return new SpanFactory(policies, OpenTelemetry.noop(), pipeline, true, new ExportAccounting(1));
  }

  private void startAndEndAll(SpanFactory factory) {
    Map<SpanType, OperationSpan> open = new LinkedHashMap<>();
    for (SpanType type : SpanCatalog.all()) {
      OperationSpan parent = type.parent() == null ? null : open.get(type.parent());
      Context context = parent == null ? Context.root() : parent.context();
      String detail = type.parameter().replace("<", "").replace(">", "");
      OperationSpan span = factory.span(type, detail, context).start();
      type.attributes().forEach(attribute -> setExample(span, attribute));
      open.put(type, span);
      clock.advance(Duration.ofMillis(1));
    }
    for (OperationSpan span : open.values()) {
      clock.advance(Duration.ofMillis(1));
      span.close();
    }
  }

  @SuppressWarnings("unchecked") // the example has the attribute's type
  private static <T> void setExample(OperationSpan span, Attribute<T> attribute) {
    Object example =
        switch (attribute.key().getType()) {
          case STRING -> "text";
          case LONG -> 42L;
          case DOUBLE -> 1.5;
          case BOOLEAN -> true;
          case STRING_ARRAY -> List.of("a", "b");
          case DOUBLE_ARRAY -> List.of(0.5, 0.25);
          default -> throw new AssertionError("no example of " + attribute.key().getType());
        };
    span.set(attribute, (T) example);
  }
}
