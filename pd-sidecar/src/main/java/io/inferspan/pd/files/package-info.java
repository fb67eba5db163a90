/**
 * Files that change while the sidecar runs.
 *
 * <p>Contains the detection of changes; the package that reads a file interprets it.
 */
@NullMarked
package io.inferspan.pd.files;

import org.jspecify.annotations.NullMarked;
