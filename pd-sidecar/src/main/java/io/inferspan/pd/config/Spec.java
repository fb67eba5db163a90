package io.inferspan.pd.config;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The names, type and default of a setting.
 *
 * @param byDefault the text of the default; empty for no value
 * @param env the environment variable, if any
 * @param also an alias
 * @param formerly a deprecated name, which still works with a note
 * @param instead the replacement, if the whole setting is deprecated
 * @param onlyFlag whether it cannot be set in YAML
 */
record Spec(
    String name,
    Kind kind,
    String byDefault,
    @Nullable String env,
    @Nullable String also,
    @Nullable String formerly,
    @Nullable String instead,
    boolean onlyFlag) {

  static Spec text(String name, String byDefault) {
    return typed(name, Kind.TEXT, byDefault);
  }

  static Spec onOff(String name, boolean byDefault) {
    return typed(name, Kind.ON_OFF, byDefault ? "true" : "false");
  }

  static Spec port(String name, int byDefault) {
    return whole(name, byDefault, 1, Kind.MAX_PORT);
  }

  static Spec count(String name, int byDefault, int min) {
    return whole(name, byDefault, min, Integer.MAX_VALUE);
  }

  static Spec whole(String name, int byDefault, int min, int max) {
    return typed(name, Kind.whole(min, max), Integer.toString(byDefault));
  }

  static Spec duration(String name, String byDefault) {
    return typed(name, Kind.DURATION, byDefault);
  }

  static Spec size(String name, String byDefault, String min, String max) {
    return typed(name, Kind.size(min, max), byDefault);
  }

  static Spec words(String name, String... choices) {
    return typed(name, Kind.words(List.of(choices)), "");
  }

  static Spec choice(String name, String byDefault, String... choices) {
    return typed(name, Kind.choice(List.of(choices), List.of()), byDefault);
  }

  static Spec typed(String name, Kind kind, String byDefault) {
    return new Spec(name, kind, byDefault, null, null, null, null, false);
  }

  Spec env(String variable) {
    return new Spec(name, kind, byDefault, variable, also, formerly, instead, onlyFlag);
  }

  Spec also(String second) {
    return new Spec(name, kind, byDefault, env, second, formerly, instead, onlyFlag);
  }

  Spec formerly(String old) {
    return new Spec(name, kind, byDefault, env, also, old, instead, onlyFlag);
  }

  Spec instead(String flag) {
    return new Spec(name, kind, byDefault, env, also, formerly, flag, onlyFlag);
  }

  Spec asOnlyFlag() {
    return new Spec(name, kind, byDefault, env, also, formerly, instead, true);
  }
}
