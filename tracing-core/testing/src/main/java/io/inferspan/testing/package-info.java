/**
 * The public test kit: assertions on the spans of a program.
 *
 * <p>A {@link io.inferspan.testing.SpanRecord} is a finished span, either from an SDK in the same
 * process ({@link io.inferspan.testing.TracingExtension}) or received over OTLP ({@link
 * io.inferspan.testing.otlp.OtlpReceiver}). The other classes read lists of them: {@link
 * io.inferspan.testing.SpanTree} prints them, {@link io.inferspan.testing.SpanTreeAssert} checks
 * them, {@link io.inferspan.testing.Canary} searches them for text that must not be exported.
 *
 * <p>Depends on OpenTelemetry and OTLP's messages. A fake inference engine is in package {@code
 * engine}.
 */
@NullMarked
package io.inferspan.testing;

import org.jspecify.annotations.NullMarked;
