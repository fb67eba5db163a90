package io.inferspan.pd.config;

/**
 * Reports an invalid configuration. The message is one sentence: the value, its source, and what is
 * allowed.
 */
public final class ConfigException extends Exception {

  ConfigException(String sentence) {
    super(sentence, null, false, false);
  }
}
