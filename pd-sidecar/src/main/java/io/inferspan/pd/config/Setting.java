package io.inferspan.pd.config;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A setting: its names, type, default and meaning, declared in {@link Settings}. */
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

    final String title;

    Group(String title) {
      this.title = title;
    }
  }

  final Group group;

  /** The name, which is the name of the flag and of the YAML key. */
  final String key;

  final Kind<T> kind;

  /** The text of the default; empty for no value. */
  final String byDefault;

  @Nullable String env;
  private @Nullable String also;
  @Nullable String formerly;
  @Nullable String instead;
  String sentence = "";

  /** The position among all settings. */
  int index;

  /** Starts a declaration, which {@link #says} completes. */
  Setting(Group group, String key, Kind<T> kind, String byDefault) {
    this.group = group;
    this.key = key;
    this.kind = kind;
    this.byDefault = byDefault;
  }

  Setting<T> env(String variable) {
    env = variable;
    return this;
  }

  Setting<T> also(String second) {
    also = second;
    return this;
  }

  /** Declares a deprecated name, which still works, with a warning at startup. */
  Setting<T> formerly(String old) {
    formerly = old;
    return this;
  }

  /** Declares the replacement, if the whole setting is deprecated. */
  Setting<T> instead(String flag) {
    instead = flag;
    return this;
  }

  /** Completes the declaration with the meaning of the setting. */
  Setting<T> says(String meaning) {
    sentence = meaning;
    index = Settings.add(this);
    return this;
  }

  /** Returns whether the setting is accepted and ignored. */
  boolean isIgnored() {
    return group == Group.IGNORED;
  }

  /** Returns whether YAML may contain the setting. */
  boolean isYamlKey() {
    return group != Group.SOURCE && !isIgnored();
  }

  /** Returns the names, the current one first. */
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
