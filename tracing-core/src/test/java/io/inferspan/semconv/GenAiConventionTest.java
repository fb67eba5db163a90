package io.inferspan.semconv;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.SpanCatalog;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.semconv.incubating.GenAiIncubatingAttributes;
import java.lang.reflect.Field;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GenAiConventionTest {

  @ParameterizedTest
  @CsvSource(
      nullValues = "null",
      value = {
        "null,LEGACY",
        "'',LEGACY",
        "http,LEGACY",
        "gen_ai_latest_experimental,LATEST",
        "'http, gen_ai_latest_experimental',LATEST",
        "gen_ai_latest_experimental/dup,BOTH",
        "'gen_ai_latest_experimental,gen_ai_latest_experimental/dup',BOTH"
      })
  void optIn_selectsTheConvention(String optIn, GenAiConvention expected) {
    assertThat(GenAiConvention.fromOptIn(optIn)).isEqualTo(expected);
  }

  @Test
  void latestKeys_areThoseOfTheConventions() throws IllegalAccessException {
    Set<AttributeKey<?>> published = new HashSet<>();
    for (Field field : GenAiIncubatingAttributes.class.getFields()) {
      if (field.get(null) instanceof AttributeKey<?> key) {
        published.add(key);
      }
    }

    assertThat(SpanCatalog.attributes().stream().map(Attribute::latestKey).filter(Objects::nonNull))
        .isNotEmpty()
        .allSatisfy(key -> assertThat(published).contains(key));
  }
}
