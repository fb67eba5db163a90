package io.inferspan.pd.server;

import io.netty.handler.ssl.SslContext;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What one listener does.
 *
 * @param handler answers the requests
 * @param tls asked for each connection, so that certificates can change; null for plain HTTP
 * @param headerBytes the most bytes of a request's headers
 * @param rank which of several listeners this is, counted from zero
 */
public record ListenerSettings(
    RequestHandler handler, @Nullable Supplier<SslContext> tls, int headerBytes, int rank) {}
