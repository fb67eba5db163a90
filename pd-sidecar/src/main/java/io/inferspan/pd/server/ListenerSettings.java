package io.inferspan.pd.server;

import io.netty.handler.ssl.SslContext;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a listener.
 *
 * @param tls called for each connection, so that certificates can change; null for plain HTTP
 * @param rank the index of this listener, from zero
 */
public record ListenerSettings(
    RequestHandler handler, @Nullable Supplier<SslContext> tls, int headerBytes, int rank) {}
