/**
 * The configuration of the sidecar, read from flags, YAML and environment into an immutable object.
 *
 * <p>Contains {@link io.inferspan.pd.config.Setting}, the declaration of every setting, and what is
 * derived from it. Nothing here opens a port or resolves a name; the only file that is read is the
 * YAML file.
 */
@NullMarked
package io.inferspan.pd.config;

import org.jspecify.annotations.NullMarked;
