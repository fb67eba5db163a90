/**
 * How spans leave: the OTLP exporters' senders, over gRPC and HTTP, on the Vert.x client.
 *
 * <p>Here lives what the exporters' own module would bring OkHttp for. What is sent, and when, is
 * decided elsewhere; nothing here looks into a message.
 */
@NullMarked
package io.inferspan.pd.otlp;

import org.jspecify.annotations.NullMarked;
