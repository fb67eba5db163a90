/**
 * TLS for both sides: the listener's certificate, and trust in upstream servers.
 *
 * <p>Contains keys, certificates and handshakes. Settings determine which side uses TLS.
 */
@NullMarked
package io.inferspan.pd.tls;

import org.jspecify.annotations.NullMarked;
