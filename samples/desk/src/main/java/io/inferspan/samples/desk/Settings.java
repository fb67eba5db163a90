package io.inferspan.samples.desk;

import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** The values that the user set, each with its flag or variable for error messages. */
final class Settings {

  private final Map<Setting, Given> given = new EnumMap<>(Setting.class);

  private record Given(String source, String value) {}

  Settings(List<String> arguments, Map<String, String> environment) {
    for (Setting setting : Setting.values()) {
      String value = environment.get(setting.variable());
      if (value != null) {
        given.put(setting, new Given(setting.variable(), value));
      }
    }
    for (Iterator<String> rest = arguments.iterator(); rest.hasNext(); ) {
      take(rest.next(), rest);
    }
  }

  private void take(String argument, Iterator<String> rest) {
    int equals = argument.indexOf('=');
    String flag = equals < 0 ? argument : argument.substring(0, equals);
    for (Setting setting : Setting.values()) {
      if (setting.flag().equals(flag)) {
        if (equals < 0 && !rest.hasNext()) {
          throw new IllegalArgumentException(flag + " needs a value; see --help.");
        }
        given.put(
            setting, new Given(flag, equals < 0 ? rest.next() : argument.substring(equals + 1)));
        return;
      }
    }
    throw new IllegalArgumentException("Unknown option " + flag + "; --help lists the options.");
  }

  String text(Setting setting) {
    return given(setting).value;
  }

  /** Returns the flag or variable that set the value. */
  String source(Setting setting) {
    return given(setting).source;
  }

  private Given given(Setting setting) {
    return given.getOrDefault(setting, new Given(setting.flag(), setting.defaultValue()));
  }

  long number(Setting setting, long least, long most) {
    try {
      long number = Long.parseLong(text(setting));
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Reported below, like a number that is out of range.
    }
    Given value = given(setting);
    throw new IllegalArgumentException(
        "%s is %s, but must be %d to %d.".formatted(value.source, value.value, least, most));
  }
}
