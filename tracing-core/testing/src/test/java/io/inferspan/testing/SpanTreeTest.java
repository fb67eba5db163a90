package io.inferspan.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.testing.SpanTree.Node;
import io.inferspan.testing.SpanTree.Options;
import io.inferspan.testing.SpanTree.Place;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SpanTreeTest {
  private static final Options ALL_ATTRIBUTES = Options.DEFAULT.withAttributes(key -> true);
  private static final Options NO_TIMES = Options.DEFAULT.withoutTimes();

  private static String render(Options options, TestSpan... spans) {
    return SpanTree.of(TestSpan.list(spans)).render(options);
  }

  private static List<SpanRecord> request() {
    return TestSpan.list(
        TestSpan.child("llm_d.pd_proxy.prefill", "llm_d.pd_proxy.request")
            .service("llm-d-pd-proxy")
            .at(30, 55),
        TestSpan.child("llm_d.kv_cache.get_scores", "llm_d.epp.scorer.prefix_cache")
            .service("llm-gateway")
            .at(3, 10),
        TestSpan.child("llm_d.pd_proxy.request", "gateway.request")
            .service("llm-d-pd-proxy")
            .with("llm_d.pd_proxy.true_ttft_ms", 55.231846)
            .with("llm_d.pd_proxy.total_duration_ms", 12105.04)
            .with("secret", "x")
            .error("error description")
            .at(20, 2105),
        TestSpan.child("llm_d.epp.scorer.prefix_cache", "gateway.request")
            .service("llm-gateway")
            .at(2, 12.1),
        TestSpan.root("gateway.request").service("llm-gateway").at(0, 2150.3));
  }

  @Test
  void request_isRenderedAsATree() {
    Options options = Options.DEFAULT.withAttributes(key -> key.endsWith("_ms"));
    assertThat(SpanTree.of(request()).render(options))
        .isEqualTo(
            """
            gateway.request (2150.3 ms) [llm-gateway]
            ├── llm_d.epp.scorer.prefix_cache (12.1 ms)
            │   └── llm_d.kv_cache.get_scores (10.0 ms)
            └── llm_d.pd_proxy.request (2105.0 ms) [llm-d-pd-proxy] ✗ error description
                │   true_ttft_ms=55.23, total_duration_ms=12105
                └── llm_d.pd_proxy.prefill (55.0 ms)
            """);
  }

  @Test
  void foldedSpan_showsItsCountAndTheTimeInItsCalls() {
    TestSpan launches =
        TestSpan.root("cuda.launch (folded)")
            .with("inferspan.ebpf.count", 51L)
            .with("inferspan.ebpf.duration.sum_ns", 130_000L)
            .at(0, 273.4);

    assertThat(render(Options.DEFAULT, launches)).isEqualTo("cuda.launch ×51, Σ 0.130 ms\n");
    assertThat(render(NO_TIMES, launches)).isEqualTo("cuda.launch (folded)\n");
  }

  @Test
  void order_isByTime_notByArrival() {
    String expected = SpanTree.of(request()).render();
    List<SpanRecord> shuffled = new ArrayList<>(request());
    Random random = new Random(3);
    for (int i = 0; i < 20; i++) {
      Collections.shuffle(shuffled, random);
      assertThat(SpanTree.of(shuffled).render()).isEqualTo(expected);
    }
  }

  @Test
  void noSpans_renderNoText() {
    assertThat(SpanTree.of(List.of()).render()).isEmpty();
    assertThat(SpanTree.of(List.of()).roots()).isEmpty();
  }

  @Test
  void oneTrace_canBeSelected() {
    List<SpanRecord> spans =
        TestSpan.list(TestSpan.root("a"), TestSpan.root("b").trace("t2"), TestSpan.child("c", "a"));
    assertThat(SpanTree.ofTrace(spans, "t1").render(NO_TIMES)).isEqualTo("a\n└── c\n");
    assertThat(SpanTree.ofTrace(spans, "t2").render(NO_TIMES)).isEqualTo("b\n");
    assertThat(SpanTree.of(spans).roots()).hasSize(2);
  }

  @Test
  void parent_isInTheSameTraceOnly() {
    assertThat(render(NO_TIMES, TestSpan.root("a"), TestSpan.child("b", "a").trace("t2").at(1, 1)))
        .isEqualTo("a\nb (parent not received)\n");
  }

  @Test
  void missingParent_isReported() {
    assertThat(render(NO_TIMES, TestSpan.child("b", "gone"), TestSpan.child("c", "b")))
        .isEqualTo("b (parent not received)\n└── c\n");
  }

  @Test
  void cycle_isRootedAtTheSpanThatStartedFirst() {
    assertThat(
            render(
                NO_TIMES,
                TestSpan.child("hanging", "b").at(0, 1),
                TestSpan.child("a", "c").at(1, 1),
                TestSpan.child("b", "a").at(2, 1),
                TestSpan.child("c", "b").at(3, 1)))
        .isEqualTo("a (its own ancestor)\n└── b\n    ├── hanging\n    └── c\n");
    assertThat(render(NO_TIMES, TestSpan.child("self", "self")))
        .isEqualTo("self (its own ancestor)\n");
  }

  @Test
  void randomParents_showEverySpanOnce() {
    Random random = new Random(11);
    for (int round = 0; round < 500; round++) {
      int count = 1 + random.nextInt(12);
      TestSpan[] spans = new TestSpan[count];
      for (int i = 0; i < count; i++) {
        String name = "s" + random.nextInt(count);
        spans[i] = TestSpan.child(name, "s" + random.nextInt(count + 1)).at(random.nextInt(5), 1);
      }
      assertThat(render(NO_TIMES, spans).lines()).hasSize(count);
    }
  }

  @Test
  void duplicates_appearTwice() {
    assertThat(render(NO_TIMES, TestSpan.root("a"), TestSpan.root("a"), TestSpan.child("b", "a")))
        .isEqualTo("a\n└── b\na\n");
  }

  @Test
  void attributeKeys_areShortened_ifUnambiguous() {
    assertThat(
            render(
                ALL_ATTRIBUTES.withoutTimes().withAttributes(key -> !key.equals("z.same")),
                TestSpan.root("a").with("x.y.one", 1L).with("x.same", 2L).with("z.same", 3L)))
        .isEqualTo("a\n    one=1, x.same=2\n");
  }

  @Test
  void attributes_areWrappedAndTruncated() {
    TestSpan span = TestSpan.root("a");
    for (int i = 0; i < 12; i++) {
      span.with("key" + i, "0123456789");
    }
    span.with("long", "x".repeat(5000));
    String text = render(ALL_ATTRIBUTES, span);
    assertThat(text.lines()).hasSize(1 + 3 + 1).allMatch(line -> line.length() <= 211);
    assertThat(text).endsWith("long=" + "x".repeat(200) + "…\n");
  }

  @Test
  void controlCharactersInText_areEscaped() {
    String evil = "\u001b]0;owned\u0007\n├── forged";
    String text =
        render(
            ALL_ATTRIBUTES,
            TestSpan.root(evil)
                .service(evil)
                .with(evil, evil)
                .with("list", List.of(evil))
                .error(evil));
    assertThat(text.lines())
        .hasSizeLessThanOrEqualTo(4)
        .noneMatch(line -> line.startsWith("├── forged"));
    assertThat(text.replace("\n", "").chars()).noneMatch(Character::isISOControl);
  }

  @Test
  void durations_haveDecimalPlacesByMagnitude() {
    assertThat(SpanTreeText.millis(2_150_340_000L)).isEqualTo("2150.3");
    assertThat(SpanTreeText.millis(12_130_000)).isEqualTo("12.1");
    assertThat(SpanTreeText.millis(1_234_000)).isEqualTo("1.23");
    assertThat(SpanTreeText.millis(1_500)).isEqualTo("0.002");
    assertThat(SpanTreeText.millis(0)).isEqualTo("0.000");
    assertThat(SpanTreeText.millis(-20_000_000)).isEqualTo("-20.0");
  }

  @Test
  void deepChain_isTruncatedWithARemark() {
    int count = 50_000;
    TestSpan[] spans = new TestSpan[count];
    for (int i = 0; i < count; i++) {
      spans[i] = i == 0 ? TestSpan.root("s0") : TestSpan.child("s" + i, "s" + (i - 1)).at(i, 1);
    }
    String text = render(Options.DEFAULT, spans);
    assertThat(text.lines()).hasSize(SpanTreeText.MAX_DEPTH + 2);
    assertThat(text).endsWith("└── … deeper spans are not shown\n");
  }

  @Test
  void tree_canBeTraversed() {
    Node root = SpanTree.of(request()).roots().get(0);
    assertThat(root.place()).isEqualTo(Place.ROOT);
    assertThat(root.span().name()).isEqualTo("gateway.request");
    assertThat(root.children())
        .extracting(node -> node.span().name())
        .containsExactly("llm_d.epp.scorer.prefix_cache", "llm_d.pd_proxy.request");
    assertThat(root.children()).extracting(Node::place).containsOnly(Place.CHILD);
  }
}
