/**
 * The additions of MoRI-IO's WRITE mode to {@code nixlv2}: the prefill pod writes into the
 * decoder's memory and needs its address.
 *
 * <p>No other connector uses this package.
 */
@NullMarked
package io.inferspan.pd.connector.moriio;

import org.jspecify.annotations.NullMarked;
