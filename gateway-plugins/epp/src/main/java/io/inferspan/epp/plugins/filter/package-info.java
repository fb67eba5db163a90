/** llm-d's filters, which remove endpoints that cannot serve a request. */
@NullMarked
package io.inferspan.epp.plugins.filter;

import org.jspecify.annotations.NullMarked;
