/** Request routing: routes, routing headers, the allow-list, the order of decisions. */
@NullMarked
package io.inferspan.pd.proxy;

import org.jspecify.annotations.NullMarked;
