package io.inferspan.samples.desk.otlp;

import java.util.regex.Pattern;

/**
 * The source of a span.
 *
 * @param service the service's name
 * @param instance identifies the process of the service; empty if unknown
 * @param scope the instrumentation scope
 */
public record Origin(String service, String instance, String scope) {

  private static final Pattern RANDOM = Pattern.compile("[0-9a-fA-F-]{32,36}");

  /** The origin of a span without resource attributes. */
  static final Origin UNKNOWN = new Origin("unknown", "", "");

  /** Returns the name of the process: the service and its instance. */
  public String process() {
    return instance.isEmpty() ? service : service + " " + instance;
  }

  /**
   * Returns the name that the page shows: the service, and its instance if that is not a random id.
   */
  public String readable() {
    return instance.isEmpty() || RANDOM.matcher(instance).matches()
        ? service
        : service + " (" + instance + ")";
  }

  int length() {
    return service.length() + instance.length() + scope.length();
  }
}
