/**
 * The prefill/decode proxy: prefill there, decode here, and the spans of both stages.
 *
 * <p>Here lives a program; what it shares with others is in the tracing core.
 */
@NullMarked
package io.inferspan.pd;

import org.jspecify.annotations.NullMarked;
