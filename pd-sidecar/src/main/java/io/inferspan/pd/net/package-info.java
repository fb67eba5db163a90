/**
 * Event loops, transport and name resolution, as Vert.x runs them.
 *
 * <p>The only place that reaches into Vert.x's internals: the data plane shares its event loops and
 * drives Netty directly on them.
 */
@NullMarked
package io.inferspan.pd.net;

import org.jspecify.annotations.NullMarked;
