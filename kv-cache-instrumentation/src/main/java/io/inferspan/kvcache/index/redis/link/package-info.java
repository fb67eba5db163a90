/**
 * Connections to Redis: made, lost, made again, and what is under way on them.
 *
 * <p>Here live a link to a server or a cluster, the clients that it is made with, and the deadline
 * of what is asked on it. What is asked is said in other rooms. State of a connection is touched on
 * its event loop only; the package is not exported.
 */
@NullMarked
package io.inferspan.kvcache.index.redis.link;

import org.jspecify.annotations.NullMarked;
