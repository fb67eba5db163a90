package io.inferspan.pd.allow;

import java.util.Map;
import java.util.Set;

/**
 * What matters here of a pod or a pool; a pod has no selector, a pool no addresses.
 *
 * @param selector labels and their values, whichever API version wrote them
 * @param over whether a pod has run to its end, so that its address may be another's by now
 */
record ObjectState(
    String name, Set<String> addresses, Map<String, String> selector, boolean over) {}
