/** HTTP/1.1 and HTTP/2 from clients: listeners, connections, and one exchange per request. */
@NullMarked
package io.inferspan.pd.server;

import org.jspecify.annotations.NullMarked;
