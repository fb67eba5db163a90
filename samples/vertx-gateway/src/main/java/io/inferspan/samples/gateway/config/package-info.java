/**
 * How a gateway is set up: by flags, by environment variables, or by a program.
 *
 * <p>Here lives what is read before a gateway starts; nothing here listens or calls anybody.
 */
@NullMarked
package io.inferspan.samples.gateway.config;

import org.jspecify.annotations.NullMarked;
