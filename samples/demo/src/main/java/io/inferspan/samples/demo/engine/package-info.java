/**
 * A demo engine: runs the test kit's fake engine in its own process, with a prefix cache, KV events
 * and a device.
 *
 * <p>This package does not depend on the rest of the demo. Only {@link
 * io.inferspan.samples.demo.engine.CudaDevice} calls native code.
 */
@NullMarked
package io.inferspan.samples.demo.engine;

import org.jspecify.annotations.NullMarked;
