package io.inferspan.privacy;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.ExceptionEventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Takes out of a span what must not leave; a span that holds nothing of the kind stays as it is.
 */
public final class SpanScrubber {

  /** Names that are not in the catalogue are cut here. */
  static final int MAX_FOREIGN_NAME_CHARS = 128;

  static final int MAX_STACK_TRACE_CHARS = 16_384;

  private static final String UNREADABLE = "unreadable";

  private static final AttributeKey<String> STACK_TRACE =
      AttributeKey.stringKey("exception.stacktrace");
  private static final AttributeKey<String> EXCEPTION_MESSAGE =
      AttributeKey.stringKey("exception.message");

  private final AttributePolicy policy;
  private final OwnScopes ownScopes;
  private final boolean exceptionMessages;

  /**
   * Creates a scrubber.
   *
   * @param policy which attributes may leave
   * @param ownScopes the instrumentation scopes that carry the mark of our build
   * @param exceptionMessages whether the messages of exceptions may leave
   */
  public SpanScrubber(AttributePolicy policy, OwnScopes ownScopes, boolean exceptionMessages) {
    this.policy = policy;
    this.ownScopes = ownScopes;
    this.exceptionMessages = exceptionMessages;
  }

  /** The span as it may leave. */
  SpanData scrub(SpanData span) {
    boolean ours = ownScopes.contains(span.getInstrumentationScopeInfo());
    return ours && isClean(span) ? span : scrubbed(span, ours);
  }

  /** True of most spans: nothing of theirs need be copied. */
  private boolean isClean(SpanData span) {
    return ownScopes.isMarked(span.getInstrumentationScopeInfo())
        && policy.isCatalogueName(span.getName())
        && span.getEvents().isEmpty()
        && span.getLinks().isEmpty()
        && span.getSpanContext().getTraceState().isEmpty()
        && span.getParentSpanContext().getTraceState().isEmpty()
        && isClean(span.getStatus())
        && isClean(span.getAttributes());
  }

  private SpanData scrubbed(SpanData span, boolean ours) {
    InstrumentationScopeInfo scope = span.getInstrumentationScopeInfo();
    return new ScrubbedSpan(
        span,
        new ScrubbedSpan.Parts(
            policy.isCatalogueName(span.getName()) ? span.getName() : cut(span.getName()),
            ours ? ownScopes.marked(scope) : scope,
            attributes(span.getAttributes()),
            events(span.getEvents()),
            links(span.getLinks()),
            status(span.getStatus())),
        withoutForeignState(span.getSpanContext()),
        withoutForeignState(span.getParentSpanContext()));
  }

  /** The span without anything that somebody wrote. */
  SpanData bare(SpanData span) {
    return new ScrubbedSpan(
        span,
        new ScrubbedSpan.Parts(
            UNREADABLE,
            span.getInstrumentationScopeInfo(),
            Attributes.empty(),
            List.of(),
            List.of(),
            StatusData.create(span.getStatus().getStatusCode(), "")),
        withoutForeignState(span.getSpanContext()),
        withoutForeignState(span.getParentSpanContext()));
  }

  private boolean isClean(Attributes attributes) {
    CleanCheck check = new CleanCheck(policy);
    attributes.forEach(check);
    return check.clean();
  }

  private Attributes attributes(Attributes attributes) {
    if (isClean(attributes)) {
      return attributes;
    }
    AttributesBuilder kept = Attributes.builder();
    attributes.forEach(
        (key, value) -> {
          if (policy.allows(key.getKey()) && ValueBounds.isPlain(value)) {
            put(kept, key, ValueBounds.bounded(value));
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

  private List<EventData> events(List<EventData> events) {
    if (events.isEmpty()) {
      return events;
    }
    List<EventData> scrubbed = new ArrayList<>(events.size());
    for (EventData event : events) {
      scrubbed.add(
          EventData.create(
              event.getEpochNanos(),
              policy.eventName(event.getName()),
              eventAttributes(event),
              event.getTotalAttributeCount()));
    }
    return scrubbed;
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

  /** Keeps what may leave of {@code recorded}, and counts it where that is nothing. */
  private void keep(
      AttributesBuilder kept,
      AttributeKey<String> key,
      @Nullable String recorded,
      @Nullable String allowed) {
    if (allowed != null) {
      kept.put(key, ValueBounds.bounded(allowed, MAX_STACK_TRACE_CHARS));
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

  private List<LinkData> links(List<LinkData> links) {
    if (links.isEmpty()) {
      return links;
    }
    List<LinkData> scrubbed = new ArrayList<>(links.size());
    for (LinkData link : links) {
      scrubbed.add(
          LinkData.create(
              withoutForeignState(link.getSpanContext()),
              attributes(link.getAttributes()),
              link.getTotalAttributeCount()));
    }
    return scrubbed;
  }

  /** Others put an exception's message here; ours are sentences that our callers chose. */
  private StatusData status(StatusData status) {
    if (isClean(status)) {
      return status;
    }
    String described =
        exceptionMessages
            ? ValueBounds.bounded(status.getDescription(), ValueBounds.MAX_CHARS)
            : "";
    return StatusData.create(status.getStatusCode(), described);
  }

  private static boolean isClean(StatusData status) {
    return FailureTexts.isKnown(status.getDescription());
  }

  /** What a client sends as {@code tracestate} travels on, but is no part of our own data. */
  private static SpanContext withoutForeignState(SpanContext context) {
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

  /** Up to the query, if the name is a URL, and never longer than the bound. */
  private static String cut(String name) {
    int query = name.indexOf('?');
    int end = Math.min(query < 0 ? name.length() : query, MAX_FOREIGN_NAME_CHARS);
    return end == name.length() ? name : name.substring(0, end);
  }
}
