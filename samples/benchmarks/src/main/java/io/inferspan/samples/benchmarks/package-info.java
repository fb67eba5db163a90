/** JMH benchmarks of the tracing core, each compared with the OpenTelemetry API in the same run. */
@NullMarked
package io.inferspan.samples.benchmarks;

import org.jspecify.annotations.NullMarked;
