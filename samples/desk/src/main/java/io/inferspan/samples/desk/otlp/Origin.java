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

  /** No resource attributes. */
  static final Origin UNKNOWN = new Origin("unknown", "", "");

  /** Names the process; a service may have several. */
  public String process() {
    return instance.isEmpty() ? service : service + " " + instance;
  }

  /** Returns a name for the page, with the instance unless that is a random id. */
  public String readable() {
    return instance.isEmpty() || RANDOM.matcher(instance).matches()
        ? service
        : service + " (" + instance + ")";
  }

  int length() {
    return service.length() + instance.length() + scope.length();
  }
}
