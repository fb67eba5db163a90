package io.inferspan.privacy;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.ExceptionEventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An exporter that removes content from spans and passes them on. Most of Inferspan's own spans
 * contain none, and are not copied.
 *
 * <p>{@code Telemetry.initTracing()} wraps every exporter. Programs with their own SDK use {@code
 * Telemetry.guard}.
 *
 * @param delegate receives the spans
 * @param policy decides which attributes are exported
 * @param ownScopes the instrumentation scopes that get the commit attribute
 * @param exceptionMessages whether messages of exceptions are exported
 */
public record PrivacyGuard(
    SpanExporter delegate, AttributePolicy policy, OwnScopes ownScopes, boolean exceptionMessages)
    implements SpanExporter {
  /** The length at which names that are not in the catalogue are truncated. */
  static final int MAX_FOREIGN_NAME_CHARS = 128;

  /** The length at which strings are truncated. */
  static final int MAX_CHARS = 4_096;

  /** The length at which lists are truncated. */
  static final int MAX_ELEMENTS = 128;

  static final int MAX_STACK_TRACE_CHARS = 16_384;

  private static final AttributeKey<String> STACK_TRACE =
      AttributeKey.stringKey("exception.stacktrace");
  private static final AttributeKey<String> EXCEPTION_MESSAGE =
      AttributeKey.stringKey("exception.message");

  @Override
  public CompletableResultCode export(Collection<SpanData> spans) {
    List<SpanData> scrubbed = new ArrayList<>(spans.size());
    for (SpanData span : spans) {
      scrubbed.add(scrub(span));
    }
    return delegate.export(scrubbed);
  }

  /**
   * Returns the scrubbed span. A span whose data cannot be read is exported without its name,
   * attributes, events and links.
   */
  private SpanData scrub(SpanData span) {
    try {
      return isClean(span) ? span : new ScrubbedSpan(span, this);
    } catch (RuntimeException e) {
      return new ScrubbedSpan(span);
    }
  }

  @Override
  public CompletableResultCode flush() {
    return delegate.flush();
  }

  @Override
  public CompletableResultCode shutdown() {
    return delegate.shutdown();
  }

  @Override
  public String toString() {
    return delegate.toString();
  }

  /**
   * Returns whether the span can be exported unchanged, which holds for most of Inferspan's own
   * spans.
   */
  private boolean isClean(SpanData span) {
    return ownScopes.contains(span.getInstrumentationScopeInfo())
        && ownScopes.isMarked(span.getInstrumentationScopeInfo())
        && policy.isCatalogueName(span.getName())
        && span.getEvents().isEmpty()
        && span.getLinks().isEmpty()
        && span.getSpanContext().getTraceState().isEmpty()
        && span.getParentSpanContext().getTraceState().isEmpty()
        && isClean(span.getStatus())
        && isClean(span.getAttributes());
  }

  String name(String name) {
    return policy.isCatalogueName(name) ? name : cut(name);
  }

  InstrumentationScopeInfo scope(InstrumentationScopeInfo scope) {
    return ownScopes.contains(scope) ? ownScopes.marked(scope) : scope;
  }

  private boolean isClean(Attributes attributes) {
    boolean[] clean = {true};
    attributes.forEach(
        (key, value) -> clean[0] = clean[0] && policy.allows(key.getKey()) && isWithin(value));
    return clean[0];
  }

  Attributes attributes(Attributes attributes) {
    if (isClean(attributes)) {
      return attributes;
    }
    AttributesBuilder kept = Attributes.builder();
    attributes.forEach(
        (key, value) -> {
          if (policy.allows(key.getKey()) && isPlain(value)) {
            put(kept, key, bounded(value));
          } else {
            policy.countDropped(key.getKey());
          }
        });
    return kept.build();
  }

  @SuppressWarnings("unchecked") // the key and the value come from the same pair
  private static <T> void put(AttributesBuilder builder, AttributeKey<T> key, Object value) {
    builder.put(key, (T) value);
  }

  List<EventData> events(List<EventData> events) {
    return events.stream().map(this::scrubbed).toList();
  }

  private EventData scrubbed(EventData event) {
    return EventData.create(
        event.getEpochNanos(),
        policy.eventName(event.getName()),
        eventAttributes(event),
        event.getTotalAttributeCount());
  }

  private Attributes eventAttributes(EventData event) {
    Attributes recorded = event.getAttributes();
    String message = recorded.get(EXCEPTION_MESSAGE);
    String printed = recorded.get(STACK_TRACE);
    Attributes rest = recorded;
    if (message != null || printed != null) {
      rest = recorded.toBuilder().remove(EXCEPTION_MESSAGE).remove(STACK_TRACE).build();
    }
    AttributesBuilder kept = attributes(rest).toBuilder();
    keep(kept, EXCEPTION_MESSAGE, message, exceptionMessages ? message : null);
    keep(kept, STACK_TRACE, printed, exceptionMessages ? printed : stackTrace(event));
    return kept.build();
  }

  /** Copies an attribute if it may be exported, and counts it otherwise. */
  private void keep(
      AttributesBuilder kept,
      AttributeKey<String> key,
      @Nullable String recorded,
      @Nullable String allowed) {
    if (allowed != null) {
      kept.put(key, bounded(allowed, MAX_STACK_TRACE_CHARS));
    } else if (recorded != null) {
      policy.countDropped(key.getKey());
    }
  }

  private static @Nullable String stackTrace(EventData event) {
    if (event instanceof ExceptionEventData thrown) {
      return StackTraceText.of(thrown.getException());
    }
    String printed = event.getAttributes().get(STACK_TRACE);
    return printed != null && StackTraceText.isFreeOfMessages(printed) ? printed : null;
  }

  List<LinkData> links(List<LinkData> links) {
    return links.stream().map(this::scrubbed).toList();
  }

  private LinkData scrubbed(LinkData link) {
    return LinkData.create(
        withoutForeignState(link.getSpanContext()),
        attributes(link.getAttributes()),
        link.getTotalAttributeCount());
  }

  /**
   * Returns the status. Removes an unknown description, because other code puts an exception's
   * message there.
   */
  StatusData status(StatusData status) {
    if (isClean(status)) {
      return status;
    }
    String described = exceptionMessages ? bounded(status.getDescription(), MAX_CHARS) : "";
    return StatusData.create(status.getStatusCode(), described);
  }

  private static boolean isClean(StatusData status) {
    return FailureTexts.isKnown(status.getDescription());
  }

  /** Removes a client's {@code tracestate}, which is propagated but not exported. */
  static SpanContext withoutForeignState(SpanContext context) {
    TraceState state = context.getTraceState();
    if (state.isEmpty()) {
      return context;
    }
    return context.isRemote()
        ? SpanContext.createFromRemoteParent(
            context.getTraceId(),
            context.getSpanId(),
            context.getTraceFlags(),
            TraceState.getDefault())
        : SpanContext.create(
            context.getTraceId(),
            context.getSpanId(),
            context.getTraceFlags(),
            TraceState.getDefault());
  }

  /** Truncates a name at the length limit or before a URL's query. */
  private static String cut(String name) {
    int query = name.indexOf('?');
    int end = Math.min(query < 0 ? name.length() : query, MAX_FOREIGN_NAME_CHARS);
    return end == name.length() ? name : name.substring(0, end);
  }

  private static boolean isWithin(Object value) {
    if (value instanceof String text) {
      return text.length() <= MAX_CHARS;
    }
    if (value instanceof List<?> list) {
      return list.size() <= MAX_ELEMENTS && list.stream().allMatch(PrivacyGuard::isWithin);
    }
    return isPlain(value);
  }

  /**
   * Returns whether a value is a string, number, boolean or list. Nested values have inner keys
   * that the policy does not check, and byte values may contain anything.
   */
  private static boolean isPlain(Object value) {
    return value instanceof String
        || value instanceof Long
        || value instanceof Double
        || value instanceof Boolean
        || value instanceof List<?>;
  }

  private static String bounded(String text, int maxChars) {
    return text.length() <= maxChars ? text : text.substring(0, maxChars);
  }

  /** Returns the value, truncated if necessary. */
  private static Object bounded(Object value) {
    if (value instanceof String text && text.length() > MAX_CHARS) {
      return text.substring(0, MAX_CHARS);
    }
    if (value instanceof List<?> list) {
      return list.stream().limit(MAX_ELEMENTS).map(PrivacyGuard::bounded).toList();
    }
    return value;
  }
}
