/**
 * TLS of both sides: the listener's certificate and how far upstream servers are trusted.
 *
 * <p>Here live keys, certificates and handshakes; which side uses TLS is a setting, and bytes flow
 * elsewhere.
 */
@NullMarked
package io.inferspan.pd.tls;

import org.jspecify.annotations.NullMarked;
