/**
 * A demo engine: the test kit's fake engine as a process of its own, with a prefix cache whose
 * events it publishes, and a device that it calls.
 *
 * <p>Nothing here knows the demo around it. Only {@link
 * io.inferspan.samples.demo.engine.CudaDevice} calls native code.
 */
@NullMarked
package io.inferspan.samples.demo.engine;

import org.jspecify.annotations.NullMarked;
