/**
 * A gateway's configuration: by flags, by environment variables, or by a program.
 *
 * <p>Contains what is read before a gateway starts; nothing here opens a socket.
 */
@NullMarked
package io.inferspan.samples.gateway.config;

import org.jspecify.annotations.NullMarked;
