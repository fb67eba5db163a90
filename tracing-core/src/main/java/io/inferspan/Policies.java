package io.inferspan;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.privacy.AttributePolicy;
import io.inferspan.privacy.OwnScopes;
import io.inferspan.privacy.PrivacyGuard;
import io.inferspan.semconv.GenAiConvention;
import io.inferspan.setup.Settings;
import io.inferspan.setup.TrustedCallers;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * The rules for spans, read from the options and settings of one {@code Telemetry}.
 *
 * @param naming the naming scheme of spans
 * @param convention the keys of renamed GenAI attributes
 * @param exceptionMessages whether messages of exceptions are exported
 * @param attributes the exported attributes
 * @param ownScopes the instrumentation scopes of our spans
 * @param trusted the callers whose traces are continued
 */
record Policies(
    SpanNaming naming,
    GenAiConvention convention,
    boolean exceptionMessages,
    AttributePolicy attributes,
    OwnScopes ownScopes,
    TrustedCallers trusted) {

  private static final Logger LOGGER = System.getLogger("io.inferspan");
  private static final String SPAN_NAMES = "inferspan.span.names";
  private static final String ATTRIBUTES_ALLOW = "inferspan.attributes.allow";
  private static final String EXCEPTION_MESSAGES = "inferspan.exception.messages";
  private static final String SEMCONV_OPT_IN = "otel.semconv.stability.opt.in";

  static Policies of(TelemetryOptions options) {
    Settings settings = new Settings(options.settings);
    GenAiConvention convention = options.genAiConvention;
    return new Policies(
        naming(options, settings),
        convention != null ? convention : GenAiConvention.fromOptIn(settings.find(SEMCONV_OPT_IN)),
        settings.isTrue(EXCEPTION_MESSAGES),
        new AttributePolicy(settings.list(ATTRIBUTES_ALLOW)),
        new OwnScopes(BuildInfo.COMMIT),
        TrustedCallers.of(settings));
  }

  /** Puts the privacy guard before an exporter. */
  SpanExporter guard(SpanExporter exporter) {
    return new PrivacyGuard(exporter, attributes, ownScopes, exceptionMessages);
  }

  private static SpanNaming naming(TelemetryOptions options, Settings settings) {
    SpanNaming chosen = options.spanNaming;
    String setting = settings.find(SPAN_NAMES);
    if (chosen != null || setting == null) {
      return chosen == null ? SpanNaming.PROPOSAL : chosen;
    }
    SpanNaming named = SpanNaming.fromSetting(setting);
    if (named == null) {
      LOGGER.log(
          Level.WARNING,
          "INFERSPAN_SPAN_NAMES is '%s', but must be one of %s; using '%s'"
              .formatted(setting, SpanNaming.settings(), SpanNaming.PROPOSAL.setting()));
      return SpanNaming.PROPOSAL;
    }
    return named;
  }
}
