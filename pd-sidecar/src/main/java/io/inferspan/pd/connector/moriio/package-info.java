/**
 * What MoRI-IO's WRITE mode adds to {@code nixlv2}: the prefill pod writes into the decoder's
 * memory and must know where.
 *
 * <p>Here lives nothing that another connector needs.
 */
@NullMarked
package io.inferspan.pd.connector.moriio;

import org.jspecify.annotations.NullMarked;
