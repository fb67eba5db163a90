package io.inferspan.pd.allow;

import java.util.Map;
import java.util.Set;

/**
 * The relevant state of a pod or a pool; a pod has no selector, a pool no addresses.
 *
 * @param selector labels and their values, from any API version
 * @param over whether a pod has terminated, so that its address may have been reassigned
 */
record ObjectState(
    String name, Set<String> addresses, Map<String, String> selector, boolean over) {}
