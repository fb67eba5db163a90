package io.inferspan.pd.config;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a setting is called, holds and is without being set.
 *
 * @param byDefault the text that stands for an absent one; where it is empty there is no value
 * @param env the environment variable, if there is one
 * @param also a second name, as good as the first
 * @param formerly an old name, which works and is noted
 * @param instead what to write instead of the whole setting, if it is an old one
 * @param onlyFlag whether YAML cannot say it
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
    return typed(name, new Kind.Text(), byDefault);
  }

  static Spec onOff(String name, boolean byDefault) {
    return typed(name, new Kind.OnOff(), byDefault ? "true" : "false");
  }

  static Spec port(String name, int byDefault) {
    return whole(name, byDefault, 1, Kind.MAX_PORT);
  }

  static Spec count(String name, int byDefault, int min) {
    return whole(name, byDefault, min, Integer.MAX_VALUE);
  }

  static Spec whole(String name, int byDefault, int min, int max) {
    return typed(name, new Kind.Whole(min, max), Integer.toString(byDefault));
  }

  static Spec span(String name, String byDefault) {
    return typed(name, new Kind.Span(), byDefault);
  }

  static Spec size(String name, String byDefault, String min, String max) {
    return typed(name, new Kind.Size(min, max), byDefault);
  }

  static Spec words(String name, String... choices) {
    return typed(name, new Kind.Words(List.of(choices)), "");
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
