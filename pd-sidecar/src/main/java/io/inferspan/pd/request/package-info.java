/** An active request and its stages: each is sent, traced, counted and cancelled here. */
@NullMarked
package io.inferspan.pd.request;

import org.jspecify.annotations.NullMarked;
