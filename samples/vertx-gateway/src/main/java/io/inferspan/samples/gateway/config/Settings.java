package io.inferspan.samples.gateway.config;

import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;

/** The values that the user set, each with its flag or variable for error messages. */
final class Settings {

  private static final String NONE = "none";
  private static final int MAX_PORT = 65_535;

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

  private Given given(Setting setting) {
    return given.getOrDefault(setting, new Given(setting.flag(), setting.byDefault()));
  }

  boolean flag(Setting setting) {
    return switch (text(setting)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw wrong(setting, "true or false");
    };
  }

  int number(Setting setting, int least, int most) {
    try {
      int number = Integer.parseInt(text(setting));
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Reported below, like a number that is out of range.
    }
    throw wrong(setting, most == Integer.MAX_VALUE ? least + " or more" : least + " to " + most);
  }

  OptionalInt portOrNone(Setting setting) {
    return text(setting).equals(NONE)
        ? OptionalInt.empty()
        : OptionalInt.of(number(setting, 0, MAX_PORT));
  }

  List<Address> addresses(Setting setting) {
    return Stream.of(text(setting).split(",", -1))
        .map(String::strip)
        .filter(text -> !text.isEmpty())
        .map(text -> address(setting, text))
        .toList();
  }

  private Address address(Setting setting, String text) {
    Address address = Address.parse(text);
    if (address == null) {
      throw wrong(setting, "host:port, or several separated by commas");
    }
    return address;
  }

  private IllegalArgumentException wrong(Setting setting, String allowed) {
    Given value = given(setting);
    return new IllegalArgumentException(
        "%s is %s, but must be %s.".formatted(value.source, value.value, allowed));
  }
}
