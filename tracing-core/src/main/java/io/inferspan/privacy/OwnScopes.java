package io.inferspan.privacy;

import io.inferspan.catalog.Component;
import io.inferspan.catalog.SpanNaming;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Inferspan's instrumentation scopes; an attribute of each contains the commit of the build. */
public final class OwnScopes {

  static final int MAX_NAMES = 1_000;

  private static final AttributeKey<String> COMMIT = AttributeKey.stringKey("commit-sha");

  private final Attributes mark;
  private final Set<String> names = ConcurrentHashMap.newKeySet();
  private final Map<InstrumentationScopeInfo, InstrumentationScopeInfo> marked =
      new ConcurrentHashMap<>();

  /** Creates the scopes of the catalogue. */
  public OwnScopes(String commit) {
    for (Component component : Component.values()) {
      for (SpanNaming naming : SpanNaming.values()) {
        names.add(component.scope(naming));
      }
    }
    this.mark = Attributes.of(COMMIT, commit);
  }

  /** Adds {@code name} and returns its scope. */
  public InstrumentationScopeInfo add(String name, String version) {
    if (names.size() < MAX_NAMES) {
      names.add(name);
    }
    return InstrumentationScopeInfo.builder(name).setVersion(version).setAttributes(mark).build();
  }

  boolean contains(InstrumentationScopeInfo scope) {
    return names.contains(scope.getName());
  }

  boolean isMarked(InstrumentationScopeInfo scope) {
    return scope.getAttributes().get(COMMIT) != null;
  }

  /** Returns the scope with the commit attribute, which OpenTelemetry's tracer API cannot set. */
  InstrumentationScopeInfo marked(InstrumentationScopeInfo scope) {
    InstrumentationScopeInfo known = marked.get(scope);
    return known != null ? known : marked.computeIfAbsent(scope, this::mark);
  }

  private InstrumentationScopeInfo mark(InstrumentationScopeInfo scope) {
    var builder =
        InstrumentationScopeInfo.builder(scope.getName())
            .setAttributes(scope.getAttributes().toBuilder().putAll(mark).build());
    String version = scope.getVersion();
    if (version != null) {
      builder.setVersion(version);
    }
    String schemaUrl = scope.getSchemaUrl();
    if (schemaUrl != null) {
      builder.setSchemaUrl(schemaUrl);
    }
    return builder.build();
  }
}
