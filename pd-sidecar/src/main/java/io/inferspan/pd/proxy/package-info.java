/** Request routing: routes, routing headers, the order of decisions, and decode in chunks. */
@NullMarked
package io.inferspan.pd.proxy;

import org.jspecify.annotations.NullMarked;
