package io.inferspan.response;

import java.util.Set;

/**
 * The finish reasons and error types that may appear on spans and meters. All others become {@link
 * #OTHER}, because an engine may send any text in these fields, including the client's.
 */
public final class KnownWords {

  /** Replaces an unknown word. */
  public static final String OTHER = "other";

  // In order: the words of OpenAI, of Anthropic, and of vLLM, SGLang and llm-d.
  private static final Set<String> FINISH_REASONS =
      words(
          """
          stop, length, tool_calls, function_call, content_filter, completed, incomplete, failed,
          cancelled, max_output_tokens,
          end_turn, max_tokens, stop_sequence, tool_use, pause_turn, refusal,
          model_context_window_exceeded,
          abort, error, cache_threshold, remote_decode
          """);

  // In order: the words of OpenAI and Anthropic, and of vLLM and SGLang.
  private static final Set<String> ERROR_TYPES =
      words(
          """
          invalid_request_error, authentication_error, permission_error, not_found_error,
          request_too_large, rate_limit_error, rate_limit_exceeded, insufficient_quota,
          context_length_exceeded, timeout_error, overloaded_error, server_error, api_error,
          BadRequestError, NotFoundError, UnprocessableEntityError, InternalServerError,
          NotImplementedError, ServiceUnavailableError, GenerationError, ValueError, TypeError,
          RuntimeError, Bad Request, Internal Server Error
          """);

  private KnownWords() {}

  private static Set<String> words(String list) {
    return Set.of(list.strip().split(",\\s+"));
  }

  /** Returns the finish reason, or {@link #OTHER}. */
  public static String finishReason(String word) {
    return FINISH_REASONS.contains(word) ? word : OTHER;
  }

  /** Returns the error type, or {@link #OTHER}. Short numbers, such as error codes, are allowed. */
  public static String errorType(String word) {
    return ERROR_TYPES.contains(word) || isCode(word) ? word : OTHER;
  }

  private static boolean isCode(String word) {
    return word.length() <= 5 && word.chars().allMatch(c -> c >= '0' && c <= '9');
  }
}
