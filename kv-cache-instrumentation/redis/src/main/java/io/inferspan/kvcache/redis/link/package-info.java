/**
 * Connections to Redis and the operations on them.
 *
 * <p>Contains the link to a server or a cluster, the factory of its clients, and the deadline of an
 * operation. Connection state is accessed on its event loop only. The package is not exported.
 */
@NullMarked
package io.inferspan.kvcache.redis.link;

import org.jspecify.annotations.NullMarked;
