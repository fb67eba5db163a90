package io.inferspan.privacy;

import static io.inferspan.propagation.HeaderMap.HEADERS;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.GatewaySpans;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A place where a prompt may get into telemetry, by accident or through other instrumentation. */
enum Plant {
  // In data from a client.
  JUNK_TRACEPARENT(false, (t, prompt) -> serve(t, Map.of("traceparent", prompt))),
  LONG_TRACEPARENT(
      false, (t, prompt) -> serve(t, Map.of("traceparent", "01" + ids() + "-" + prompt))),
  TRACESTATE(true, (t, prompt) -> serve(t, traced("tracestate", "v=" + word(prompt)))),
  BAGGAGE(false, (t, prompt) -> serve(t, traced("baggage", "prompt=" + word(prompt)))),
  OTHER_HEADER(false, (t, prompt) -> serve(t, traced("x-prompt", prompt))),

  // In what others write to our span, which they find with Span.current().
  CONTENT_ON_OURS(true, (t, prompt) -> onOurs(t, span -> contentAttributes(span, prompt))),
  UNKNOWN_KEY_ON_OURS(true, (t, prompt) -> onOurs(t, span -> span.setAttribute("note", prompt))),
  LIST_ON_OURS(true, (t, prompt) -> onOurs(t, span -> list(span, prompt))),
  EVENT_ON_OURS(true, (t, prompt) -> onOurs(t, span -> span.addEvent("e", note(prompt)))),
  EVENT_NAME_ON_OURS(true, (t, prompt) -> onOurs(t, span -> span.addEvent(prompt))),
  LINK_ON_OURS(true, (t, prompt) -> onOurs(t, span -> link(span, prompt))),
  STATUS_ON_OURS(true, (t, prompt) -> onOurs(t, span -> span.setStatus(StatusCode.ERROR, prompt))),
  EXCEPTION_ON_OURS(true, (t, prompt) -> onOurs(t, span -> span.recordException(nested(prompt)))),
  PASTED_TRACE_ON_OURS(
      true, (t, prompt) -> onOurs(t, span -> span.recordException(pasted(prompt)))),

  LONG_TRACE_ON_OURS(
      true, (t, prompt) -> onOurs(t, span -> span.recordException(longPasted(prompt)))),

  // In exceptions that our own callers hand over.
  FAILURE(false, (t, prompt) -> ours(t, span -> span.fail(nested(prompt)))),
  FAILURE_WITH_PASTED_TRACE(false, (t, prompt) -> ours(t, span -> span.fail(pasted(prompt)))),

  // In spans of other instrumentation.
  FOREIGN_CONTENT(true, (t, prompt) -> foreign(t, span -> contentAttributes(span, prompt))),
  FOREIGN_EVENT(true, (t, prompt) -> foreign(t, span -> span.addEvent("e", note(prompt)))),
  FOREIGN_EVENT_NAME(true, (t, prompt) -> foreign(t, span -> span.addEvent(prompt))),
  FOREIGN_LINK(true, (t, prompt) -> foreign(t, span -> link(span, prompt))),
  FOREIGN_STATUS(true, (t, prompt) -> foreign(t, span -> span.setStatus(StatusCode.ERROR, prompt))),
  FOREIGN_URL_NAME(true, (t, prompt) -> foreign(t, span -> span.updateName("GET /x?q=" + prompt))),
  FOREIGN_EXCEPTION(true, (t, prompt) -> foreign(t, span -> span.recordException(nested(prompt)))),
  FOREIGN_PASTED_TRACE(
      true, (t, prompt) -> foreign(t, span -> span.recordException(pasted(prompt)))),
  FOREIGN_LONG_TRACE(
      true, (t, prompt) -> foreign(t, span -> span.recordException(longPasted(prompt)))),
  FOREIGN_TRACE_ATTRIBUTE(true, (t, prompt) -> foreign(t, span -> printed(span, prompt))),
  SCOPE_LIKE_OURS(true, (t, prompt) -> named(t, "gateway-api-inference-extension", prompt)),
  DEFAULT_SCOPE_LIKE_OURS(true, (t, prompt) -> named(t, Telemetry.DEFAULT_SCOPE, prompt));

  private final boolean leaksUnguarded;

  @SuppressWarnings("ImmutableEnumChecker") // stateless lambdas
  private final Gardener gardener;

  Plant(boolean leaksUnguarded, Gardener gardener) {
    this.leaksUnguarded = leaksUnguarded;
    this.gardener = gardener;
  }

  /** Returns whether the prompt is exported without a guard, so that the guard must remove it. */
  boolean leaksUnguarded() {
    return leaksUnguarded;
  }

  /** Traces a request with {@code prompt} in this place. */
  void plant(Telemetry telemetry, String prompt) {
    gardener.plant(telemetry, prompt);
  }

  private interface Gardener {
    void plant(Telemetry telemetry, String prompt);
  }

  private interface Writer<S> {
    void write(S span);
  }

  private static void serve(Telemetry telemetry, Map<String, String> headers) {
    Context parent = telemetry.extract(headers, HEADERS);
    try (OperationSpan span = telemetry.span(GatewaySpans.REQUEST, parent).start()) {
      telemetry.inject(span, new HashMap<>(headers), HEADERS);
    }
  }

  private static String ids() {
    return "-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  }

  private static Map<String, String> traced(String name, String value) {
    return Map.of("traceparent", "00" + ids(), name, value);
  }

  /** A prompt as a header's grammar has it. */
  private static String word(String prompt) {
    return prompt.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "_");
  }

  private static void ours(Telemetry telemetry, Writer<OperationSpan> writer) {
    try (OperationSpan span = telemetry.span(GatewaySpans.REQUEST, Context.root()).start()) {
      writer.write(span);
    }
  }

  private static void onOurs(Telemetry telemetry, Writer<Span> writer) {
    ours(
        telemetry,
        span -> {
          try (Scope scope = span.context().makeCurrent()) {
            writer.write(Span.current());
          }
        });
  }

  private static void foreign(Telemetry telemetry, Writer<Span> writer) {
    Tracer tracer = telemetry.openTelemetry().getTracer("com.example.instrumentation", "1.0");
    Span span = tracer.spanBuilder("work").startSpan();
    writer.write(span);
    span.end();
  }

  /** A span of others in a scope that happens to be called like one of ours. */
  private static void named(Telemetry telemetry, String scope, String prompt) {
    telemetry.tracer(scope);
    Tracer tracer = telemetry.openTelemetry().getTracer(scope);
    Span span = tracer.spanBuilder("work").startSpan();
    span.setStatus(StatusCode.ERROR, prompt);
    span.end();
  }

  private static void contentAttributes(Span span, String prompt) {
    span.setAttribute("gen_ai.prompt", prompt)
        .setAttribute("gen_ai.prompt.0.content", prompt)
        .setAttribute("gen_ai.input.messages", "[{\"content\":\"" + prompt + "\"}]")
        .setAttribute("llm.prompts", prompt)
        .setAttribute("input.value", prompt)
        .setAttribute("db.statement", "select '" + prompt + "'")
        .setAttribute("url.full", "http://host/path?q=" + prompt)
        .setAttribute("http.request.header.x-prompt", prompt);
  }

  private static Attributes note(String prompt) {
    return Attributes.of(
        AttributeKey.stringKey("message"),
        prompt,
        AttributeKey.stringArrayKey("notes"),
        List.of("a", prompt));
  }

  private static void link(Span span, String prompt) {
    TraceState state = TraceState.builder().put("v", word(prompt)).build();
    SpanContext other =
        SpanContext.createFromRemoteParent(
            ids().substring(1, 33), ids().substring(34, 50), TraceFlags.getSampled(), state);
    span.addLink(other, note(prompt));
  }

  private static Throwable nested(String prompt) {
    Exception suppressed = new IllegalArgumentException("suppressed: " + prompt);
    Exception cause = new IllegalStateException("first line\nsecond: " + prompt + "\n", suppressed);
    RuntimeException failure = new RuntimeException("while reading\n" + prompt, cause);
    failure.addSuppressed(suppressed);
    failure.addSuppressed(new RuntimeException());
    return failure;
  }

  /** Users paste stack traces into prompts, and parsers quote prompts in their messages. */
  private static Throwable pasted(String prompt) {
    return shallow(new RuntimeException("outer", shallow(new IllegalStateException(text(prompt)))));
  }

  /** Longer than the SDK lets a value be, so that message and trace are cut in different places. */
  private static Throwable longPasted(String prompt) {
    return shallow(new RuntimeException(text(prompt) + " ".repeat(5_000)));
  }

  private static String text(String prompt) {
    String word = word(prompt);
    return ("unreadable: java.lang.Error: %s\n\tat app.%s.run(%s.java:1)\n\t... 3 more\n"
            + "Caused by: a.%s.X: y\n\tat b.C.d(%s.java)")
        .formatted(prompt, word, word, word, word);
  }

  /** Leaves two frames, so that no bound on the trace's length cuts the message off. */
  private static Throwable shallow(Throwable throwable) {
    StackTraceElement[] frames = throwable.getStackTrace();
    throwable.setStackTrace(new StackTraceElement[] {frames[0], frames[1]});
    return throwable;
  }

  private static void list(Span span, String prompt) {
    span.setAttribute(AttributeKey.stringArrayKey("notes"), List.of(prompt));
  }

  private static void printed(Span span, String prompt) {
    StringWriter text = new StringWriter();
    nested(prompt).printStackTrace(new PrintWriter(text));
    span.setAttribute("exception.stacktrace", text.toString());
  }
}
