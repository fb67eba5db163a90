/**
 * The public test kit: what tests and demos need to see the spans a program really sends.
 *
 * <p>A finished span is a {@link io.inferspan.testing.SpanRecord}, wherever it came from: from an
 * SDK in the same process ({@link io.inferspan.testing.TracingExtension}) or over the wire ({@link
 * io.inferspan.testing.OtlpReceiver}). Everything else here reads lists of them: {@link
 * io.inferspan.testing.SpanTree} shows them, {@link io.inferspan.testing.SpanTreeAssert} checks
 * them, {@link io.inferspan.testing.Canary} looks for what must not be in them.
 *
 * <p>What belongs here: stand-ins and checks that know OpenTelemetry and nothing of Inferspan's own
 * modules. What does not: anything production code would call, and stand-ins for inference engines
 * (their package is {@code engine}).
 */
@NullMarked
package io.inferspan.testing;

import org.jspecify.annotations.NullMarked;
