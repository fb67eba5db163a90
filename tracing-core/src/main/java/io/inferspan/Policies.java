package io.inferspan;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.privacy.AttributePolicy;
import io.inferspan.privacy.OwnScopes;
import io.inferspan.privacy.SpanScrubber;
import io.inferspan.semconv.GenAiConvention;
import io.inferspan.setup.Settings;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** What the options and our own settings decide about spans. */
record Policies(SpanPolicy spans, AttributePolicy attributes, OwnScopes ownScopes) {

  private static final Logger LOGGER = System.getLogger("io.inferspan");
  private static final String SPAN_NAMES = "inferspan.span.names";
  private static final String ATTRIBUTES_ALLOW = "inferspan.attributes.allow";
  private static final String EXCEPTION_MESSAGES = "inferspan.exception.messages";
  private static final String SEMCONV_OPT_IN = "otel.semconv.stability.opt.in";

  static Policies of(TelemetryOptions options) {
    Settings settings = new Settings(options.settings());
    GenAiConvention convention = options.genAiConvention();
    return new Policies(
        new SpanPolicy(
            naming(options, settings),
            convention != null
                ? convention
                : GenAiConvention.fromOptIn(settings.find(SEMCONV_OPT_IN)),
            settings.isTrue(EXCEPTION_MESSAGES)),
        new AttributePolicy(settings.list(ATTRIBUTES_ALLOW)),
        new OwnScopes(BuildInfo.current().commit()));
  }

  /** What goes before every exporter. */
  SpanScrubber scrubber() {
    return new SpanScrubber(attributes, ownScopes, spans.exceptionMessages());
  }

  private static SpanNaming naming(TelemetryOptions options, Settings settings) {
    SpanNaming chosen = options.spanNaming();
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
