package io.inferspan.pd.config;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A setting: its names, type, default and meaning, declared in {@link Settings}.
 *
 * @param <T> the type of its value
 */
public final class Setting<T> {

  /** The groups of settings; each is a heading in the help. */
  enum Group {
    LISTENING("Listener"),
    UPSTREAM("Engines"),
    CONNECTORS("KV cache transfer"),
    PREFILL("Prefill"),
    ALLOW_LIST("Allowed hosts"),
    MORIIO("MoRI-IO"),
    LIMITS("Limits"),
    OBSERVABILITY("Traces, metrics, logs"),
    SOURCE("Configuration"),
    DEPRECATED("Deprecated"),
    /** Flags of Go's loggers, which occur in pod specs and have no meaning here. */
    IGNORED("Accepted and ignored");

    private final String title;

    Group(String title) {
      this.title = title;
    }

    String title() {
      return title;
    }
  }

  private final Group group;
  private final String key;
  private final Kind<T> kind;
  private final String byDefault;
  private @Nullable String env;
  private @Nullable String also;
  private @Nullable String formerly;
  private @Nullable String instead;
  private String sentence = "";
  private int index;

  /**
   * Starts a declaration, which {@link #says} completes.
   *
   * @param byDefault the text of the default; empty for no value
   */
  Setting(Group group, String key, Kind<T> kind, String byDefault) {
    this.group = group;
    this.key = key;
    this.kind = kind;
    this.byDefault = byDefault;
  }

  /** Declares the environment variable. */
  Setting<T> env(String variable) {
    env = variable;
    return this;
  }

  /** Declares an alias. */
  Setting<T> also(String second) {
    also = second;
    return this;
  }

  /** Declares a deprecated name, which still works with a note. */
  Setting<T> formerly(String old) {
    formerly = old;
    return this;
  }

  /** Declares the replacement, if the whole setting is deprecated. */
  Setting<T> instead(String flag) {
    instead = flag;
    return this;
  }

  /** Completes the declaration with its meaning. */
  Setting<T> says(String meaning) {
    sentence = meaning;
    index = Settings.add(this);
    return this;
  }

  Group group() {
    return group;
  }

  /** Returns its name, which is the name of the flag and of the YAML key. */
  String key() {
    return key;
  }

  Kind<T> kind() {
    return kind;
  }

  String byDefault() {
    return byDefault;
  }

  @Nullable String env() {
    return env;
  }

  @Nullable String formerly() {
    return formerly;
  }

  @Nullable String instead() {
    return instead;
  }

  String sentence() {
    return sentence;
  }

  /** Returns its position among all settings. */
  int index() {
    return index;
  }

  /** Returns whether it is accepted and ignored. */
  boolean isIgnored() {
    return group() == Group.IGNORED;
  }

  /** Returns whether it may be set in YAML. */
  boolean isYamlKey() {
    return group() != Group.SOURCE && !isIgnored();
  }

  /** Returns its names, the current one first. */
  List<String> names() {
    return Stream.of(key, also, formerly).filter(Objects::nonNull).toList();
  }

  /** Returns the flag to use instead of {@code name}, or null if the name is a current one. */
  @Nullable String insteadOf(String name) {
    return name.equals(formerly) ? key : instead;
  }

  @Override
  public String toString() {
    return key;
  }
}
