/** Files that change while the sidecar runs. */
@NullMarked
package io.inferspan.pd.files;

import org.jspecify.annotations.NullMarked;
