/**
 * The prefill/decode proxy: prefill on another pod, decode on this one, and the spans of both
 * stages.
 *
 * <p>This module is a program; code that it shares with other modules is in the tracing core.
 */
@NullMarked
package io.inferspan.pd;

import org.jspecify.annotations.NullMarked;
