package io.inferspan.samples.desk.otlp;

import java.util.regex.Pattern;

/**
 * Who made a span.
 *
 * @param service the service's name
 * @param instance which of the service's processes it was; empty where it does not say
 * @param scope the instrumentation scope
 */
public record Origin(String service, String instance, String scope) {

  private static final Pattern RANDOM = Pattern.compile("[0-9a-fA-F-]{32,36}");

  /** Of whom nothing is known. */
  static final Origin UNKNOWN = new Origin("unknown", "", "");

  /** Names the process: processes of one service are not one. */
  public String process() {
    return instance.isEmpty() ? service : service + " " + instance;
  }

  /** Names it to a reader: with the instance, where that is a name and no random number. */
  public String readable() {
    return instance.isEmpty() || RANDOM.matcher(instance).matches()
        ? service
        : service + " (" + instance + ")";
  }

  int length() {
    return service.length() + instance.length() + scope.length();
  }
}
