package io.inferspan.setup;

/**
 * Who a telemetry speaks for where the environment does not say.
 *
 * @param name the service's name
 * @param version the service's build
 */
public record Service(String name, String version) {}
