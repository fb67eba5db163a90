/** How a traced gateway's requests look on the trace desk: shared by the tests of all embeddings. */
@NullMarked
package io.inferspan.samples.ondesk;

import org.jspecify.annotations.NullMarked;
