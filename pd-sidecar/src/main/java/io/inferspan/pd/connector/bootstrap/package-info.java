/**
 * Mooncake's bootstrap servers, which list the engines of a prefill pod.
 *
 * <p>Contains their queries and a cache of the responses; nothing here depends on a client's
 * request.
 */
@NullMarked
package io.inferspan.pd.connector.bootstrap;

import org.jspecify.annotations.NullMarked;
