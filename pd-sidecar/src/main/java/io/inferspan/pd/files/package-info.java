/**
 * Files that change while the sidecar runs.
 *
 * <p>Here lives noticing the change; what a file means is known by the room that reads it.
 */
@NullMarked
package io.inferspan.pd.files;

import org.jspecify.annotations.NullMarked;
