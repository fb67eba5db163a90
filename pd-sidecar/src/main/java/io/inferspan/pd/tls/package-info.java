/** TLS for both sides: the listener's certificate, and trust in upstream servers. */
@NullMarked
package io.inferspan.pd.tls;

import org.jspecify.annotations.NullMarked;
