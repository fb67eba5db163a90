package io.inferspan.pd.config;

/**
 * A configuration that cannot be; the message is one sentence: what, from where, what is allowed.
 */
public final class ConfigException extends Exception {

  ConfigException(String sentence) {
    super(sentence, null, false, false);
  }
}
