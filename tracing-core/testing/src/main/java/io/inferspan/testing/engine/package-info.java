/**
 * A scriptable inference engine over real sockets. It answers HTTP like vLLM, fails on demand,
 * records its requests and, given an OpenTelemetry instance, creates vLLM's span. Does not depend
 * on the parent package.
 */
@NullMarked
package io.inferspan.testing.engine;

import org.jspecify.annotations.NullMarked;
