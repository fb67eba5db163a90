/**
 * The configuration of the sidecar: from flags, YAML and environment to one immutable record.
 *
 * <p>Here lives {@link io.inferspan.pd.config.Setting}, the one declaration of every setting, and
 * what follows from it. Nothing here opens a port or looks up a name; the only file read is the
 * YAML one.
 */
@NullMarked
package io.inferspan.pd.config;

import org.jspecify.annotations.NullMarked;
