/** Tests of the whole sidecar over bare sockets: what HTTP allows, what it forbids, what breaks. */
@NullMarked
package io.inferspan.pd.wire;

import org.jspecify.annotations.NullMarked;
