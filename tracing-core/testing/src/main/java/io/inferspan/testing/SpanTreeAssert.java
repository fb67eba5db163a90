package io.inferspan.testing;

import io.inferspan.testing.SpanTree.Node;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.assertj.core.api.AbstractAssert;

/**
 * AssertJ assertions on the tree that finished spans form.
 *
 * <pre>{@code
 * assertThatSpans(receiver.spans())
 *     .isOneTrace()
 *     .hasTree("""
 *         gateway.request [SERVER] {http.response.status_code=200}
 *           llm_d.epp.scorer.prefix_cache
 *           llm_d.pd_proxy.request {error.type=*} ERROR
 *         """);
 * }</pre>
 */
public final class SpanTreeAssert extends AbstractAssert<SpanTreeAssert, List<SpanRecord>> {
  private boolean ignoresSiblingOrder;

  private SpanTreeAssert(List<SpanRecord> spans) {
    super(spans, SpanTreeAssert.class);
  }

  /** Begins assertions on the given spans. */
  public static SpanTreeAssert assertThatSpans(List<SpanRecord> spans) {
    return new SpanTreeAssert(spans);
  }

  /** Lets {@link #hasTree} accept siblings (and roots) in any order instead of by start time. */
  public SpanTreeAssert ignoringSiblingOrder() {
    ignoresSiblingOrder = true;
    return this;
  }

  /**
   * Checks that the spans form exactly this tree (or trees): one span a line, two spaces a level,
   * siblings by start time.
   *
   * <p>A line is {@code name [KIND] {key=value, ...} ERROR}. The name is compared whole; {@code *}
   * stands for any name. {@code [KIND]} and {@code {...}} may be left out and are then not
   * compared; attributes that are not named may be there. A value is compared as text; {@code *}
   * stands for any value, and a value with a comma goes in double quotes. {@code ERROR} is compared
   * always: without it the span must not have failed.
   */
  public SpanTreeAssert hasTree(String expected) {
    isNotNull();
    List<TreePattern.Line> wanted = TreePattern.parse(expected);
    TreeComparison comparison =
        TreeComparison.compare(wanted, SpanTree.of(actual).roots(), ignoresSiblingOrder);
    if (!comparison.isMatch()) {
      failWithActualExpectedAndMessage(
          comparison.actualText(), comparison.expectedText(), "%s", comparison.message());
    }
    return this;
  }

  /** Checks that there are spans and that all of them belong to the same trace. */
  public SpanTreeAssert isOneTrace() {
    isNotNull();
    Set<String> traces =
        actual.stream().map(SpanRecord::traceId).collect(Collectors.toCollection(TreeSet::new));
    if (traces.size() != 1) {
      failWithMessage(
          "expected the spans of one trace, but got %d traces %s:%n%s",
          traces.size(), traces, tree());
    }
    return this;
  }

  /**
   * Checks that the parent of every span is there too, so none was lost or left open. A span whose
   * parent belongs to the caller of the system under test counts as well: leave such spans out of
   * the list.
   */
  public SpanTreeAssert hasNoUnfinishedParents() {
    isNotNull();
    List<SpanRecord> orphans =
        SpanTree.of(actual).roots().stream()
            .filter(root -> root.place() != SpanTree.Place.ROOT)
            .map(Node::span)
            .toList();
    if (!orphans.isEmpty()) {
      failWithMessage(
          "expected the parent of every span, but it is missing for %s:%n%s",
          SpanLog.names(orphans), tree());
    }
    return this;
  }

  /** Checks that exactly one span has this name, and returns it for closer assertions. */
  public SpanRecord span(String name) {
    isNotNull();
    List<SpanRecord> found = actual.stream().filter(span -> span.name().equals(name)).toList();
    if (found.size() != 1) {
      throw failure(
          "expected exactly one span named %s, but there are %d among:%n%s",
          name, found.size(), tree());
    }
    return found.get(0);
  }

  private String tree() {
    return actual.isEmpty() ? "(no spans)" : SpanTree.of(actual).render();
  }
}
