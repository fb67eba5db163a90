/** Infrastructure for tests of the whole sidecar: a running one, scripted engines, raw sockets. */
@NullMarked
package io.inferspan.pd.rig;

import org.jspecify.annotations.NullMarked;
