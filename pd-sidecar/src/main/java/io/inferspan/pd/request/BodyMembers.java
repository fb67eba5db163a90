package io.inferspan.pd.request;

/** Names of members of a request's body that several parts of the proxy use. */
public final class BodyMembers {
  public static final String STREAM = "stream";
  public static final String STREAM_OPTIONS = "stream_options";
  public static final String MAX_TOKENS = "max_tokens";
  public static final String MAX_COMPLETION_TOKENS = "max_completion_tokens";
  public static final String MIN_TOKENS = "min_tokens";
  public static final String MAX_OUTPUT_TOKENS = "max_output_tokens";
  public static final String SAMPLING_PARAMS = "sampling_params";
  public static final String KV_TRANSFER_PARAMS = "kv_transfer_params";
  public static final String EC_TRANSFER_PARAMS = "ec_transfer_params";
  public static final String CACHE_HIT_THRESHOLD = "cache_hit_threshold";
  public static final String N = "n";
  public static final String MESSAGES = "messages";
  public static final String CONTINUE_FINAL_MESSAGE = "continue_final_message";
  public static final String ADD_GENERATION_PROMPT = "add_generation_prompt";

  private BodyMembers() {}
}
