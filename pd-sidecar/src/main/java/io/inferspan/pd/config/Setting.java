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
    LISTENING("Where requests arrive"),
    UPSTREAM("Where requests go"),
    CONNECTORS("How stages hand over"),
    PREFILL("Prefill"),
    ALLOW_LIST("Which hosts a request may name"),
    MORIIO("MoRI-IO"),
    LIMITS("Limits"),
    OBSERVABILITY("Traces, metrics, logs"),
    SOURCE("Configuration"),
    DEPRECATED("Deprecated"),
    /** Flags of Go's loggers, which pod specs carry and which mean nothing here. */
    IGNORED("Accepted and ignored");

    private final String title;

    Group(String title) {
      this.title = title;
    }

    String title() {
      return title;
    }
  }

  private final Builder<T> declared;
  private final String sentence;
  private final int index;

  private Setting(Builder<T> declared, String sentence, int index) {
    this.declared = declared;
    this.sentence = sentence;
    this.index = index;
  }

  /** The declaration of a setting. */
  static final class Builder<T> {
    private final Group group;
    private final String key;
    private final Kind<T> kind;
    private final String byDefault;
    private @Nullable String env;
    private @Nullable String also;
    private @Nullable String formerly;
    private @Nullable String instead;

    /**
     * Starts a declaration.
     *
     * @param byDefault the text of the default; empty for no value
     */
    Builder(Group group, String key, Kind<T> kind, String byDefault) {
      this.group = group;
      this.key = key;
      this.kind = kind;
      this.byDefault = byDefault;
    }

    /** The environment variable. */
    Builder<T> env(String variable) {
      env = variable;
      return this;
    }

    /** An alias. */
    Builder<T> also(String second) {
      also = second;
      return this;
    }

    /** A deprecated name, which still works with a note. */
    Builder<T> formerly(String old) {
      formerly = old;
      return this;
    }

    /** The replacement, if the whole setting is deprecated. */
    Builder<T> instead(String flag) {
      instead = flag;
      return this;
    }

    /** Completes the declaration with its meaning. */
    Setting<T> says(String sentence) {
      return Settings.add(index -> new Setting<>(this, sentence, index));
    }
  }

  Group group() {
    return declared.group;
  }

  /** Returns its name, which is that of the flag and of the YAML key. */
  String key() {
    return declared.key;
  }

  Kind<T> kind() {
    return declared.kind;
  }

  String byDefault() {
    return declared.byDefault;
  }

  @Nullable String env() {
    return declared.env;
  }

  @Nullable String formerly() {
    return declared.formerly;
  }

  @Nullable String instead() {
    return declared.instead;
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

  /** Its names, the better ones first. */
  List<String> names() {
    return Stream.of(declared.key, declared.also, declared.formerly)
        .filter(Objects::nonNull)
        .toList();
  }

  /** The flag to write instead of {@code name}, or null where the name is a current one. */
  @Nullable String insteadOf(String name) {
    return name.equals(declared.formerly) ? declared.key : declared.instead;
  }

  @Override
  public String toString() {
    return key();
  }
}
