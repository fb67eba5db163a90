package io.inferspan.pd.config;

import io.inferspan.pd.config.Layer.Given;
import io.inferspan.pd.config.text.TextException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The values that count: flags before YAML before environment before defaults. */
final class Values {

  private final List<Layer> layers;

  /** Values of which the earlier layers win. */
  Values(Layer... layers) {
    this.layers = List.of(layers);
  }

  /**
   * Returns the index of the layer that sets it, 0 being the strongest; past the last if none does.
   */
  int layerOf(Setting setting) {
    int i = 0;
    while (i < layers.size() && layers.get(i).find(setting) == null) {
      i++;
    }
    return i;
  }

  Given given(Setting setting) {
    int layer = layerOf(setting);
    Given given = layer < layers.size() ? layers.get(layer).find(setting) : null;
    return given == null ? byDefault(setting) : given;
  }

  private static Given byDefault(Setting setting) {
    try {
      return Layer.unchecked(setting, setting.spec().byDefault(), setting.key(), "the default");
    } catch (TextException e) {
      throw new IllegalStateException(setting.key(), e);
    }
  }

  boolean isOn(Setting setting) {
    return (Boolean) given(setting).value();
  }

  int integer(Setting setting) {
    return Math.toIntExact(size(setting));
  }

  long size(Setting setting) {
    return (Long) given(setting).value();
  }

  Duration duration(Setting setting) {
    return (Duration) given(setting).value();
  }

  List<String> list(Setting setting) {
    return Layer.list(given(setting));
  }

  String text(Setting setting) {
    return (String) given(setting).value();
  }

  @Nullable String textOrNull(Setting setting) {
    String text = text(setting);
    return text.isEmpty() ? null : text;
  }

  @Nullable Path path(Setting setting) throws ConfigException {
    String text = textOrNull(setting);
    try {
      return text == null ? null : Path.of(text);
    } catch (InvalidPathException _) {
      throw refused(setting, "a path");
    }
  }

  /** A value that its bounds allow, and the rules do not. */
  ConfigException refused(Setting setting, String allowed) {
    Given given = given(setting);
    return new ConfigException(
        "%s must be %s, but is %s (from %s)"
            .formatted(setting.key(), allowed, given.quoted(), given.origin()));
  }
}
