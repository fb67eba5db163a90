package io.inferspan.privacy;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * The last door before the exporter: lets metadata through and keeps content back.
 *
 * <p>{@code Telemetry.initTracing()} puts it before every exporter. Whoever brings an SDK of their
 * own puts it before theirs.
 */
public final class PrivacyGuard implements SpanExporter {

  private final SpanExporter delegate;
  private final SpanScrubber scrubber;

  private PrivacyGuard(SpanExporter delegate, SpanScrubber scrubber) {
    this.delegate = delegate;
    this.scrubber = scrubber;
  }

  /** Guards {@code exporter}. */
  public static PrivacyGuard before(SpanExporter exporter, SpanScrubber scrubber) {
    return new PrivacyGuard(exporter, scrubber);
  }

  @Override
  public CompletableResultCode export(Collection<SpanData> spans) {
    List<SpanData> scrubbed = new ArrayList<>(spans.size());
    for (SpanData span : spans) {
      scrubbed.add(scrub(span));
    }
    return delegate.export(scrubbed);
  }

  /** A span that cannot even be looked at leaves with nothing but its times and its place. */
  private SpanData scrub(SpanData span) {
    try {
      return scrubber.scrub(span);
    } catch (RuntimeException e) {
      return scrubber.bare(span);
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
}
