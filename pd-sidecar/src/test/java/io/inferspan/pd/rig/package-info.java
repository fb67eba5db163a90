/** What tests of the whole sidecar share: a running one, scripted engines, raw sockets. */
@NullMarked
package io.inferspan.pd.rig;

import org.jspecify.annotations.NullMarked;
