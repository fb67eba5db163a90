package io.inferspan.setup;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.resources.ResourceBuilder;
import java.util.ArrayList;
import java.util.List;

/**
 * Corrects the resource settings, so that the resource identifies the service and has no attributes
 * of the SDK.
 */
final class ResourceRules {

  private static final String ATTRIBUTES = "otel.resource.attributes";
  private static final String SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0";
  private static final String SDK_PREFIX = "telemetry.sdk.";
  private static final String ENABLED = "otel.java.enabled.resource.providers";
  private static final String DISABLED = "otel.java.disabled.resource.providers";

  /** The SDK's resource provider that generates a {@code service.instance.id} at every start. */
  private static final String INSTANCE_IDS =
      "io.opentelemetry.sdk.autoconfigure.ServiceInstanceIdResourceProvider";

  static final AttributeKey<String> SERVICE_NAME = AttributeKey.stringKey("service.name");
  private static final AttributeKey<String> SERVICE_VERSION =
      AttributeKey.stringKey("service.version");

  private ResourceRules() {}

  /** Disables the SDK's random instance id, unless the user enabled it; drops malformed entries. */
  static void apply(Corrections corrections) {
    if (!corrections.config().getList(ENABLED).contains(INSTANCE_IDS)) {
      List<String> disabled = new ArrayList<>(corrections.config().getList(DISABLED));
      disabled.add(INSTANCE_IDS);
      corrections.replace(DISABLED, String.join(",", disabled));
    }
    keepWellFormedAttributes(corrections);
  }

  private static void keepWellFormedAttributes(Corrections corrections) {
    String list = corrections.config().getString(ATTRIBUTES);
    if (list == null) {
      return;
    }
    List<String> good = new ArrayList<>();
    boolean malformed = false;
    for (String entry : list.split(",", -1)) {
      if (isWellFormed(entry)) {
        good.add(entry);
      } else {
        malformed |= !entry.isBlank();
      }
    }
    if (malformed) {
      corrections.replace(ATTRIBUTES, String.join(",", good), "a list of key=value");
    }
  }

  private static boolean isWellFormed(String entry) {
    int equals = entry.indexOf('=');
    return equals > 0
        && !entry.substring(0, equals).isBlank()
        && !entry.matches(".*%(?![0-9A-Fa-f]{2}).*");
  }

  /**
   * Returns the resource as llm-d sets it: the service's name and version apply unless the
   * environment sets others.
   */
  static Resource complete(Resource configured, String service, String version) {
    ResourceBuilder builder =
        configured.toBuilder().removeIf(key -> key.getKey().startsWith(SDK_PREFIX));
    String name = configured.getAttribute(SERVICE_NAME);
    if (name == null || name.startsWith("unknown_service")) {
      builder.put(SERVICE_NAME, service);
    }
    if (configured.getAttribute(SERVICE_VERSION) == null) {
      builder.put(SERVICE_VERSION, version);
    }
    return builder.setSchemaUrl(SCHEMA_URL).build();
  }
}
