/** The configuration of the sample gateway. */
@NullMarked
package io.inferspan.samples.gateway.config;

import org.jspecify.annotations.NullMarked;
