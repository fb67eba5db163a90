package io.inferspan.pd.config;

import io.inferspan.pd.config.Layer.Given;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The sidecar's configuration. Flags override YAML, YAML the environment, and the environment the
 * defaults.
 */
public final class SidecarConfig {
  private static final String DEFAULT_NAMESPACE = "default";

  private final List<Layer> layers;
  private final Notes notes;
  private final Object[] values;

  public record PoolName(String namespace, String name) {}

  /** Creates a configuration from layers; earlier layers override later ones. */
  SidecarConfig(List<Layer> layers, Notes notes) {
    this.layers = layers;
    this.notes = notes;
    this.values =
        Settings.all().stream().map(setting -> setting.kind.read(given(setting).text())).toArray();
  }

  @SuppressWarnings("unchecked") // parsed by the setting's kind
  public <T> T get(Setting<T> setting) {
    return (T) values[setting.index];
  }

  /** Returns the value of a setting; null if it is empty. */
  public @Nullable String orNull(Setting<String> setting) {
    String text = get(setting);
    return text.isEmpty() ? null : text;
  }

  /** Returns the path that a setting names; null for none. */
  public @Nullable Path path(Setting<String> setting) {
    String text = orNull(setting);
    return text == null ? null : Path.of(text);
  }

  /** Returns the connector that transfers the KV cache. */
  public KvConnector kvConnector() {
    return KvConnector.named(get(Settings.KV_CONNECTOR));
  }

  /** Returns the stages that are called with TLS. */
  public Set<String> tls() {
    return stages(Settings.ENABLE_TLS, Settings.PREFILLER_USE_TLS, Settings.DECODER_USE_TLS);
  }

  /** Returns the stages whose certificate is not verified. */
  public Set<String> skipVerify() {
    return stages(
        Settings.TLS_INSECURE_SKIP_VERIFY,
        Settings.PREFILLER_SKIP_VERIFY,
        Settings.DECODER_SKIP_VERIFY);
  }

  private Set<String> stages(
      Setting<List<String>> list, Setting<Boolean> oldPrefiller, Setting<Boolean> oldDecoder) {
    Set<String> stages = new HashSet<>(get(list));
    if (adds(oldPrefiller, list)) {
      stages.add("prefiller");
    }
    if (adds(oldDecoder, list)) {
      stages.add("decoder");
    }
    return stages;
  }

  /**
   * Returns whether a deprecated boolean adds its stage: only if no source of higher precedence
   * sets the list.
   */
  private boolean adds(Setting<Boolean> old, Setting<List<String>> list) {
    return get(old) && layerOf(old) <= layerOf(list);
  }

  /** Returns the InferencePool whose pods are allowed; null for none. */
  public @Nullable PoolName pool() {
    String pool = orNull(Settings.INFERENCE_POOL);
    String name = orNull(Settings.INFERENCE_POOL_NAME);
    boolean oldIsStronger =
        layerOf(Settings.INFERENCE_POOL_NAME) < layerOf(Settings.INFERENCE_POOL);
    if (name != null && (pool == null || oldIsStronger)) {
      String namespace = orNull(Settings.INFERENCE_POOL_NAMESPACE);
      return new PoolName(namespace == null ? DEFAULT_NAMESPACE : namespace, name);
    }
    if (pool == null) {
      return null;
    }
    int slash = pool.indexOf('/');
    String namespace = slash < 0 ? DEFAULT_NAMESPACE : pool.substring(0, slash);
    return new PoolName(namespace, pool.substring(slash + 1));
  }

  /** Returns the address at which prefillers reach the decoder; null if it is not configured. */
  public @Nullable String localPodIp() {
    String own = orNull(Settings.MORIIO_LOCAL_POD_IP);
    return own == null ? orNull(Settings.POD_IP) : own;
  }

  /** Returns messages for the user at startup, one sentence each. */
  public List<String> notes() {
    return notes.all();
  }

  /** Returns the index of the first layer with the setting; if none has it, their number. */
  private int layerOf(Setting<?> setting) {
    int i = 0;
    while (i < layers.size() && layers.get(i).find(setting) == null) {
      i++;
    }
    return i;
  }

  Given given(Setting<?> setting) {
    for (Layer layer : layers) {
      Given given = layer.find(setting);
      if (given != null) {
        return given;
      }
    }
    return new Given(setting.byDefault, "the default", 0);
  }

  /** Returns the exception for a value that violates a rule between settings. */
  ConfigException refused(Setting<?> setting, String allowed) {
    Given given = given(setting);
    return ConfigException.refused(setting, allowed, given.text(), given.origin());
  }
}
