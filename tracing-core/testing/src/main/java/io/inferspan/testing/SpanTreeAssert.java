package io.inferspan.testing;

import io.inferspan.testing.SpanTree.Node;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.assertj.core.api.AbstractAssert;

/**
 * AssertJ assertions on the tree of finished spans.
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

  /** Creates assertions on the given spans. */
  public static SpanTreeAssert assertThatSpans(List<SpanRecord> spans) {
    return new SpanTreeAssert(spans);
  }

  /** Lets {@link #hasTree} accept siblings (and roots) in any order instead of by start time. */
  public SpanTreeAssert ignoringSiblingOrder() {
    ignoresSiblingOrder = true;
    return this;
  }

  /**
   * Checks that the spans form exactly this tree (or trees): one span per line, two spaces of
   * indentation per level, siblings by start time.
   *
   * <p>A line is {@code name [KIND] {key=value, ...} ERROR}:
   *
   * <ul>
   *   <li>The whole name is compared; {@code *} matches any name.
   *   <li>{@code [KIND]} is compared only if present.
   *   <li>The listed attributes are compared as text; the span may have others. {@code *} matches
   *       any value. A value with a comma needs double quotes.
   *   <li>{@code ERROR} must be present if and only if the span failed.
   * </ul>
   */
  public SpanTreeAssert hasTree(String expected) {
    isNotNull();
    List<TreePattern.Line> lines = TreePattern.parse(expected);
    TreeComparison comparison =
        TreeComparison.compare(lines, SpanTree.of(actual).roots(), ignoresSiblingOrder);
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
   * Checks that the list contains the parent of every span, so that no parent was lost or left
   * open. A span with a parent outside the system under test fails this check; remove it from the
   * list first.
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
