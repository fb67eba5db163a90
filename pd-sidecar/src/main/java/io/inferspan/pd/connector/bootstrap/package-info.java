/**
 * Mooncake's bootstrap servers, which tell which engines run on a prefill pod.
 *
 * <p>Here lives asking them and remembering what they said; no request of a client is known here.
 */
@NullMarked
package io.inferspan.pd.connector.bootstrap;

import org.jspecify.annotations.NullMarked;
