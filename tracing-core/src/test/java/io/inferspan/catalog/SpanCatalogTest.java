package io.inferspan.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.BatchAttributes;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.KernelAttributes;
import io.inferspan.semconv.KvCacheAttributes;
import io.inferspan.semconv.PdAttributes;
import io.inferspan.semconv.ResponseAttributes;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SpanCatalogTest {

  private static final List<Class<?>> ROOMS =
      List.of(
          GatewaySpans.class,
          EppSpans.class,
          KvCacheSpans.class,
          PdSpans.class,
          EngineSpans.class,
          BatchSpans.class,
          KernelSpans.class);

  private static final List<Class<?>> ATTRIBUTES =
      List.of(
          CommonAttributes.class,
          GenAiAttributes.class,
          EppAttributes.class,
          KvCacheAttributes.class,
          PdAttributes.class,
          ResponseAttributes.class,
          KernelAttributes.class,
          BatchAttributes.class);

  @Test
  void everyConstant_isListed() throws IllegalAccessException {
    List<Object> constants = new ArrayList<>();
    for (Class<?> room : ROOMS) {
      for (Field field : room.getFields()) {
        if (Modifier.isStatic(field.getModifiers()) && field.getType() == SpanType.class) {
          constants.add(field.get(null));
        }
      }
    }

    assertThat(SpanCatalog.all()).containsExactlyInAnyOrderElementsOf(cast(constants));
  }

  private static List<SpanType> cast(List<Object> constants) {
    return constants.stream().map(SpanType.class::cast).toList();
  }

  @Test
  void indexes_areConsecutive() {
    assertThat(SpanCatalog.all().stream().map(SpanType::index))
        .containsExactlyInAnyOrderElementsOf(
            Stream.iterate(0, i -> i + 1).limit(SpanCatalog.all().size()).toList());
  }

  @ParameterizedTest
  @EnumSource
  void names_areDistinctWithinAGeneration(SpanNaming naming) {
    assertThat(SpanCatalog.all().stream().map(type -> type.name(naming) + type.parameter()))
        .doesNotHaveDuplicates();
  }

  @Test
  void everyAttribute_belongsToASpan() throws IllegalAccessException {
    List<Object> constants = new ArrayList<>();
    for (Class<?> room : ATTRIBUTES) {
      for (Field field : room.getFields()) {
        constants.add(field.get(null));
      }
    }

    assertThat(constants).isNotEmpty();
    assertThat(SpanCatalog.attributes()).containsAll(attributes(constants));
  }

  private static List<Attribute<?>> attributes(List<Object> constants) {
    List<Attribute<?>> attributes = new ArrayList<>();
    constants.forEach(constant -> attributes.add((Attribute<?>) constant));
    return attributes;
  }

  @Test
  void attributeKeys_areDeclaredOnce() {
    Set<Attribute<?>> attributes = new HashSet<>(SpanCatalog.attributes());

    assertThat(attributes.stream().map(attribute -> attribute.key().getKey()))
        .doesNotHaveDuplicates();
  }

  @Test
  void meanings_areSentences() {
    Meanings meanings = Meanings.read();

    assertThat(SpanCatalog.all()).allSatisfy(type -> assertThat(meanings.of(type)).endsWith("."));
    assertThat(SpanCatalog.attributes())
        .allSatisfy(attribute -> assertThat(meanings.of(attribute)).endsWith("."));
  }

  @Test
  void proposalNames_areTheProposals() {
    assertThat(SpanCatalog.all().stream().map(type -> type.name(SpanNaming.PROPOSAL)))
        .contains(
            "gateway.request",
            "llm_d.epp.startup",
            "llm_d.epp.scorer.prefix_cache",
            "llm_d.epp.prerequest.pd_disaggregation",
            "llm_d.epp.profile_handler.pick",
            "llm_d.kv_cache.get_scores",
            "llm_d.kv_cache.storage.lookup",
            "llm_d.kv_cache.scorer.compute",
            "llm_d.pd_proxy.request",
            "llm_d.pd_proxy.prefill",
            "llm_d.pd_proxy.decode",
            "llm_request");
  }

  @Test
  void settings_roundTrip() {
    for (SpanNaming naming : SpanNaming.values()) {
      assertThat(SpanNaming.fromSetting(naming.setting())).isEqualTo(naming);
    }
    assertThat(SpanNaming.fromSetting("llm-d-1.0")).isNull();
  }
}
