/**
 * One class per way that KV blocks travel from the prefill pod to the decoder.
 *
 * <p>Here lives what each of them writes into the bodies and headers of both stages, and in which
 * order it runs them.
 */
@NullMarked
package io.inferspan.pd.connector;

import org.jspecify.annotations.NullMarked;
