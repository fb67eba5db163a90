/**
 * The smallest gateway that traces a prefill/decode request from end to end: code to copy from.
 *
 * <p>Start reading at {@link io.inferspan.samples.quickstart.SmallGateway}; its request goes on to
 * {@link io.inferspan.samples.quickstart.SmallPdProxy}, and {@link
 * io.inferspan.samples.quickstart.Tracing} sets both up. Decisions, sockets, headers, spans and
 * their export are real. Only the engines are stand-ins, and the index forgets nothing by itself.
 */
@NullMarked
package io.inferspan.samples.quickstart;

import org.jspecify.annotations.NullMarked;
