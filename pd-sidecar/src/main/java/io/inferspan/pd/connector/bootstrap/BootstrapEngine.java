package io.inferspan.pd.connector.bootstrap;

/**
 * An engine on a prefill pod.
 *
 * @param rank its data-parallel rank, in digits
 * @param id what others call it by
 */
public record BootstrapEngine(String rank, String id) {}
