/**
 * A scriptable inference engine over real sockets. It answers HTTP like vLLM, fails as a script
 * says, records its requests and, given an OpenTelemetry instance, creates vLLM's span. Assertions
 * on spans and the OTLP receiver are in the parent package, on which nothing here depends.
 */
@NullMarked
package io.inferspan.testing.engine;

import org.jspecify.annotations.NullMarked;
