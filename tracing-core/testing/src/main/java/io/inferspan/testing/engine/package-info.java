/**
 * A scriptable inference engine over real sockets. What lives here answers HTTP the way vLLM does,
 * breaks in the ways a script asks for, remembers what it was asked and, given an OpenTelemetry,
 * leaves the span vLLM leaves. Assertions on spans and the OTLP receiver live one package up and
 * are not known here.
 */
@NullMarked
package io.inferspan.testing.engine;

import org.jspecify.annotations.NullMarked;
