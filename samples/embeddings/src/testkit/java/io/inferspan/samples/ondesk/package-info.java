/** A contract test that all embeddings share: the trace desk shows their requests correctly. */
@NullMarked
package io.inferspan.samples.ondesk;

import org.jspecify.annotations.NullMarked;
