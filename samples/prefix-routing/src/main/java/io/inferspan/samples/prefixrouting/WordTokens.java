package io.inferspan.samples.prefixrouting;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Arrays;

/**
 * A tokenizer for gateways without the model's tokenizer: each word between whitespace is a token.
 *
 * <p>It is useful only with engines that tokenize in the same way, such as those of {@code
 * samples/demo}.
 */
public final class WordTokens {

  private static final JsonFactory JSON = new JsonFactory();
  private static final int FNV_OFFSET = 0x811c9dc5;
  private static final int FNV_PRIME = 0x01000193;

  private int[] tokens = new int[64];
  private int count;

  private WordTokens() {}

  /**
   * Returns the tokens of all strings in messages or in a prompt, roles included, in order, up to
   * the first malformed JSON. Tokens do not depend on JSON escapes.
   *
   * @param input the messages or the prompt, as JSON
   */
  public static int[] of(byte[] input) {
    WordTokens words = new WordTokens();
    try (JsonParser json = JSON.createParser(input)) {
      for (JsonToken token = json.nextToken(); token != null; token = json.nextToken()) {
        if (token == JsonToken.VALUE_STRING) {
          words.add(json.getTextCharacters(), json.getTextOffset(), json.getTextLength());
        }
      }
    } catch (IOException e) {
      // The engine reports the error. Routing uses the tokens before it.
    }
    return Arrays.copyOf(words.tokens, words.count);
  }

  private void add(char[] text, int offset, int length) {
    int hash = FNV_OFFSET;
    boolean inside = false;
    for (int i = offset; i < offset + length; i++) {
      if (!Character.isWhitespace(text[i])) {
        hash = (hash ^ text[i]) * FNV_PRIME;
        inside = true;
      } else if (inside) {
        add(hash);
        hash = FNV_OFFSET;
        inside = false;
      }
    }
    if (inside) {
      add(hash);
    }
  }

  private void add(int hash) {
    if (count == tokens.length) {
      tokens = Arrays.copyOf(tokens, 2 * count);
    }
    // Clears the sign bit: token ids are not negative.
    tokens[count++] = hash & Integer.MAX_VALUE;
  }
}
