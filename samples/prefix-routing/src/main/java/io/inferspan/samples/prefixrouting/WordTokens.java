package io.inferspan.samples.prefixrouting;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Arrays;

/**
 * Makes tokens of prompts where no model's tokenizer is at hand: each word between blanks is one.
 *
 * <p>That is of use only with engines that do the same, such as the one of {@code samples/demo}.
 */
public final class WordTokens {

  private static final JsonFactory JSON = new JsonFactory();
  private static final int FNV_OFFSET = 0x811c9dc5;
  private static final int FNV_PRIME = 0x01000193;

  private int[] tokens = new int[64];
  private int count;

  private WordTokens() {}

  /**
   * The tokens of all texts in messages or in a prompt, in their order; what comes behind broken
   * JSON has none. However the same texts are escaped, they have the same tokens.
   *
   * @param input messages or prompt as they stand in a request's body
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
      // The engine will report the error; here it is only a prompt without cached blocks.
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
    // Without its sign: vocabularies have none.
    tokens[count++] = hash & Integer.MAX_VALUE;
  }
}
