package io.inferspan.testing;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.api.trace.SpanKind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SpanTreeAssertTest {
  private final List<SpanRecord> spans =
      TestSpan.list(
          TestSpan.root("request").kind(SpanKind.SERVER).with("status", 200L).at(0, 10),
          TestSpan.child("score", "request").with("pods", List.of("a", "b")).at(1, 1),
          TestSpan.child("get scores", "score").at(1, 1),
          TestSpan.child("proxy", "request").error("boom").with("why", "x, y").at(3, 1));

  private void assertTree(String tree) {
    assertThatSpans(spans).hasTree(tree);
  }

  private void assertNoTree(String tree) {
    assertThatThrownBy(() -> assertTree(tree)).isInstanceOf(AssertionError.class);
  }

  @Test
  void matchingTree_passes_withAnyAmountOfDetail() {
    assertTree("request\n  score\n    get scores\n  proxy ERROR");
    assertTree(
        """
        request [SERVER] {status=200}

          score [INTERNAL] {pods=[a, b]}
            get scores
          proxy [INTERNAL] {why="x, y"} ERROR
        """);
    assertTree("* [SERVER] {status=*}\n  *\n    *\n  * {why=*} ERROR\n");
  }

  @Test
  void anyDifference_fails() {
    assertNoTree("request\n  score\n    get scores\n  other ERROR");
    assertNoTree("request\n  score\n    get scores\n  proxy");
    assertNoTree("request\n  score ERROR\n    get scores\n  proxy ERROR");
    assertNoTree("request [CLIENT]\n  score\n    get scores\n  proxy ERROR");
    assertNoTree("request {status=404}\n  score\n    get scores\n  proxy ERROR");
    assertNoTree("request {none=*}\n  score\n    get scores\n  proxy ERROR");
    assertNoTree("request\n  score\n  get scores\n  proxy ERROR");
    assertNoTree("request\n  score\n    get scores");
    assertNoTree("request\n  score\n    get scores\n  proxy ERROR\n  more");
    assertNoTree("request\n  proxy ERROR\n  score\n    get scores");
    assertNoTree("");
  }

  @Test
  void mismatch_showsBothTreesAndTheFirstDifference() {
    String expected =
        """
        request [SERVER] {status=404}
          score
          proxy
        """;
    assertThatThrownBy(() -> assertTree(expected))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(
            """
            expected:
            request [SERVER] {status=404}
              score
              proxy

            actual:
            request [SERVER] {status=200}
              score [INTERNAL]
                get scores [INTERNAL]
              proxy [INTERNAL] ERROR
            """)
        .hasMessageEndingWith(
            """
            first difference in line 1:
              expected: request [SERVER] {status=404}
              actual:   request [SERVER] {status=200}""");
  }

  @Test
  void missingAndAdditionalSpans_areReported() {
    assertThatThrownBy(() -> assertTree("request\n  score\n    get scores"))
        .hasMessageEndingWith("line 4:\n  expected: (no span)\n  actual:     proxy ERROR");
    assertThatThrownBy(() -> assertThatSpans(List.of()).hasTree("request"))
        .hasMessageContaining("actual:\n(no spans)\n")
        .hasMessageEndingWith("line 1:\n  expected: request\n  actual:   (no span)");
  }

  @Test
  void description_isPartOfTheMessage() {
    assertThatThrownBy(() -> assertThatSpans(spans).as("the 100%s trace").hasTree("x"))
        .hasMessageContaining("the 100%s trace");
  }

  @Test
  void percentSigns_areHarmless() {
    List<SpanRecord> odd = TestSpan.list(TestSpan.root("100%d %s"));
    assertThatSpans(odd).hasTree("100%d %s");
    assertThatThrownBy(() -> assertThatSpans(odd).hasTree("50%s")).hasMessageContaining("100%d %s");
  }

  @Test
  void siblingOrder_canBeIgnored() {
    assertThatSpans(spans)
        .ignoringSiblingOrder()
        .hasTree("request\n  proxy ERROR\n  score\n    get scores");
    assertThatThrownBy(
            () ->
                assertThatSpans(spans)
                    .ignoringSiblingOrder()
                    .hasTree("request\n  proxy ERROR\n  score\n    other"))
        .hasMessageEndingWith("line 4:\n  expected:     other\n  actual:       get scores");
  }

  @Test
  void wildcard_doesNotTakeTheOnlyMatchOfAStricterSibling() {
    List<SpanRecord> siblings =
        TestSpan.list(
            TestSpan.root("r"),
            TestSpan.child("a", "r").with("k", "1").at(1, 1),
            TestSpan.child("b", "r").at(2, 1),
            TestSpan.child("a2", "a").at(2, 1));
    assertThatSpans(siblings).ignoringSiblingOrder().hasTree("r\n  *\n  a\n    *");
    assertThatSpans(siblings).ignoringSiblingOrder().hasTree("r\n  *\n    a2\n  *");
    assertThatThrownBy(
            () -> assertThatSpans(siblings).ignoringSiblingOrder().hasTree("r\n  *\n  c"))
        .isInstanceOf(AssertionError.class);
  }

  @Test
  void shuffledSiblings_alwaysMatchWhenOrderIsIgnored() {
    Random random = new Random(5);
    List<String> names = new ArrayList<>(List.of("a", "b", "c", "*", "d {k=*}", "*"));
    List<SpanRecord> siblings =
        TestSpan.list(
            TestSpan.root("a"),
            TestSpan.root("b").with("k", 1L).at(1, 1),
            TestSpan.root("c").at(2, 1),
            TestSpan.root("d").with("k", 1L).at(3, 1),
            TestSpan.root("e").at(4, 1),
            TestSpan.root("f").at(5, 1));
    for (int i = 0; i < 200; i++) {
      Collections.shuffle(names, random);
      assertThatSpans(siblings).ignoringSiblingOrder().hasTree(String.join("\n", names));
    }
  }

  @Test
  void oddNames_canBeWritten() {
    List<SpanRecord> odd =
        TestSpan.list(
            TestSpan.root("GET /v1/models/{id}").at(0, 1), TestSpan.root("evil\nname").at(1, 1));
    assertThatSpans(odd).hasTree("GET /v1/models/{id}\nevil\\nname");
  }

  @Test
  void malformedTrees_areRejectedWithAdvice() {
    assertUnreadable("request\n   score", "indent by two spaces");
    assertUnreadable("request\n    score", "at most one level deeper");
    assertUnreadable("request\n\tscore", "indent by two spaces");
    assertUnreadable("request [FOO]", "[FOO] is not one of [INTERNAL, SERVER");
    assertUnreadable("request {a=b} [SERVER]", "close the attributes");
    assertUnreadable("request {a}", "key=value");
  }

  private void assertUnreadable(String tree, String advice) {
    assertThatThrownBy(() -> assertTree(tree))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(advice);
  }

  @Test
  void oneTrace_isChecked() {
    assertThatSpans(spans).isOneTrace();
    List<SpanRecord> two = TestSpan.list(TestSpan.root("a"), TestSpan.root("b").trace("t2"));
    assertThatThrownBy(() -> assertThatSpans(two).isOneTrace())
        .hasMessageContaining("2 traces [t1, t2]");
    assertThatThrownBy(() -> assertThatSpans(List.of()).isOneTrace())
        .hasMessageContaining("0 traces");
  }

  @Test
  void missingParents_areReported() {
    assertThatCode(() -> assertThatSpans(spans).hasNoUnfinishedParents())
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> assertThatSpans(spans.subList(1, 4)).hasNoUnfinishedParents())
        .hasMessageContaining("missing for [score, proxy]");
  }

  @Test
  void oneSpan_canBeSelected() {
    assertThat(assertThatSpans(spans).span("proxy").statusDescription()).isEqualTo("boom");
    assertThatThrownBy(() -> assertThatSpans(spans).span("nope"))
        .hasMessageContaining("exactly one span named nope, but there are 0 among:")
        .hasMessageContaining("└── proxy");
    List<SpanRecord> twice = TestSpan.list(TestSpan.root("a"), TestSpan.root("a"));
    assertThatThrownBy(() -> assertThatSpans(twice).span("a")).hasMessageContaining("there are 2");
  }
}
