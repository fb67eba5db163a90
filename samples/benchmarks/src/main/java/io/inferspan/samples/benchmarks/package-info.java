/** JMH benchmarks of the tracing core, compared with other implementations in the same run. */
@NullMarked
package io.inferspan.samples.benchmarks;

import org.jspecify.annotations.NullMarked;
