package io.inferspan.epp;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A request for which an endpoint is picked; immutable.
 *
 * <p>It contains the prompt, for plugins that hash it. Only the model, the id, the kinds of media
 * and counts reach a span.
 */
public final class InferenceRequest {

  /** The size of an input that was not measured. */
  public static final long UNKNOWN = -1;

  private final String model;
  private final String id;
  private final Map<String, String> headers;
  private final long inputBytes;
  private final byte @Nullable [] input;
  private final int @Nullable [] tokens;
  private final @Nullable Throwable tokenizerFailure;
  private final boolean streaming;
  private @Nullable Media media;

  private InferenceRequest(Builder builder) {
    this.model = builder.model;
    this.id = builder.id;
    this.headers = builder.headers;
    this.inputBytes = builder.inputBytes;
    this.input = builder.input;
    this.tokens = builder.tokens;
    this.tokenizerFailure = builder.tokenizerFailure;
    this.streaming = builder.streaming;
    this.media = builder.media;
  }

  /** Creates a builder for a request to {@code model}, which may be the name of a LoRA adapter. */
  public static Builder to(String model) {
    return new Builder(model);
  }

  /** Returns the model. */
  public String model() {
    return model;
  }

  /** Returns the request's id; empty if it has none. */
  public String id() {
    return id;
  }

  /** Returns the value of a header, ignoring the case of its name; null if it is absent. */
  public @Nullable String header(String name) {
    return headers.get(name);
  }

  /** Returns the size of the user's input, or {@link #UNKNOWN}. */
  public long inputBytes() {
    return inputBytes;
  }

  /**
   * Returns the user's input as UTF-8, which must not be modified; null if only its size is known.
   */
  public byte @Nullable [] input() {
    return input;
  }

  /** Returns the tokens of the prompt, which must not be modified; null if it was not tokenised. */
  public int @Nullable [] tokens() {
    return tokens;
  }

  /** Returns the exception that the tokenizer threw, or null. */
  public @Nullable Throwable tokenizerFailure() {
    return tokenizerFailure;
  }

  /** Returns whether the client requests a stream. */
  public boolean streaming() {
    return streaming;
  }

  /**
   * Returns the media kinds of the input, sorted and separated by commas, or {@code none}; null if
   * they were not set and the input is not available.
   */
  public @Nullable String modality() {
    Media known = media();
    return known == null ? null : known.kinds();
  }

  /** Returns the number of distinct media items, or {@link #UNKNOWN}. */
  public long mediaItems() {
    Media known = media();
    return known == null ? UNKNOWN : known.items();
  }

  /** Counts the media on first use, because most requests never need the result. */
  private @Nullable Media media() {
    Media known = media;
    byte[] utf8 = input;
    if (known == null && utf8 != null) {
      known = Media.within(utf8);
      media = known;
    }
    return known;
  }

  /** Returns the id and the model, without content and headers. */
  @Override
  public String toString() {
    return "request " + id + " to " + model;
  }

  /** Builder for {@link InferenceRequest}. */
  public static final class Builder {
    private final String model;
    private String id = "";
    private final Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    private long inputBytes = UNKNOWN;
    private byte @Nullable [] input;
    private int @Nullable [] tokens;
    private @Nullable Throwable tokenizerFailure;
    private boolean streaming;
    private @Nullable Media media;

    private Builder(String model) {
      this.model = model;
    }

    /** Sets the request's id. */
    public Builder id(String id) {
      this.id = id;
      return this;
    }

    /** Adds the client's headers. */
    public Builder headers(Map<String, String> headers) {
      this.headers.putAll(headers);
      return this;
    }

    /** Sets the user's input as UTF-8; it is not copied. */
    public Builder input(byte[] utf8) {
      this.input = utf8;
      return inputBytes(utf8.length);
    }

    /** Sets only the size of the user's input. */
    public Builder inputBytes(long bytes) {
      this.inputBytes = bytes;
      return this;
    }

    /** Sets the tokens of the prompt; they are not copied. */
    public Builder tokens(int[] tokens) {
      this.tokens = tokens;
      return this;
    }

    /**
     * Tokenises the input; call it after {@link #input}. If the tokenizer throws, there are no
     * tokens, and each scorer that needs them fails.
     */
    public Builder tokenizedBy(Tokenizer tokenizer) {
      byte[] utf8 = input;
      if (utf8 != null) {
        try {
          tokens = tokenizer.tokens(model, utf8);
        } catch (RuntimeException | LinkageError e) {
          tokenizerFailure = e;
        }
      }
      return this;
    }

    /** Sets whether the client requests a stream. */
    public Builder streaming(boolean streaming) {
      this.streaming = streaming;
      return this;
    }

    /**
     * Sets the media kinds of the input, such as {@code image}, and the number of distinct items.
     * If not set, both are determined from the input if that is the JSON array {@code messages} of
     * a chat request.
     */
    public Builder media(List<String> kinds, int items) {
      this.media = Media.of(kinds, items);
      return this;
    }

    /** Builds the request. */
    public InferenceRequest build() {
      return new InferenceRequest(this);
    }
  }
}
