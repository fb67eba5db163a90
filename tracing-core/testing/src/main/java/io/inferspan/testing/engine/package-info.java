/**
 * A fake inference engine, controlled by a script. It serves HTTP like vLLM, simulates failures,
 * records its requests and, with an OpenTelemetry instance, creates vLLM's span. Does not depend on
 * the parent package.
 */
@NullMarked
package io.inferspan.testing.engine;

import org.jspecify.annotations.NullMarked;
