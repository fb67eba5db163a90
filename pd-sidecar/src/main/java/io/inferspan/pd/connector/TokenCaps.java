package io.inferspan.pd.connector;

import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.request.BodyMembers;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.telemetry.Api;

/** Limits requests to the one token that a prefill pod generates. */
final class TokenCaps {

  private TokenCaps() {}

  /** Limits a request to one token without streaming. */
  static JsonEdit oneToken(JsonEdit edit, Api api) {
    edit.set(BodyMembers.STREAM, false).remove(BodyMembers.STREAM_OPTIONS);
    switch (api) {
      case RESPONSES -> edit.set(BodyMembers.MAX_OUTPUT_TOKENS, 1);
      case GENERATE ->
          edit.within(BodyMembers.SAMPLING_PARAMS)
              .set(BodyMembers.MAX_TOKENS, 1)
              .set(BodyMembers.MIN_TOKENS, 1);
      case CHAT_COMPLETIONS, PASSTHROUGH ->
          edit.set(BodyMembers.MAX_TOKENS, 1)
              .set(BodyMembers.MAX_COMPLETION_TOKENS, 1)
              .set(BodyMembers.MIN_TOKENS, 1);
    }
    return edit;
  }

  /**
   * Limits a request to one token without streaming. Unlike {@link #oneToken}, sets {@code
   * max_completion_tokens} only if the client did, and no {@code min_tokens}.
   */
  static JsonEdit firstToken(JsonEdit edit, PdRequest request) {
    edit.set(BodyMembers.STREAM, false)
        .remove(BodyMembers.STREAM_OPTIONS)
        .set(BodyMembers.MAX_TOKENS, 1);
    if (request.body().json().has(BodyMembers.MAX_COMPLETION_TOKENS)) {
      edit.set(BodyMembers.MAX_COMPLETION_TOKENS, 1);
    }
    return ofApi(edit, request.api());
  }

  /**
   * Also sets the limit in the member that is specific to this API, if there is one. With such an
   * API, engines ignore {@code max_tokens} and would generate the whole response.
   */
  static JsonEdit ofApi(JsonEdit edit, Api api) {
    if (api == Api.RESPONSES) {
      edit.set(BodyMembers.MAX_OUTPUT_TOKENS, 1);
    } else if (api == Api.GENERATE) {
      edit.within(BodyMembers.SAMPLING_PARAMS).set(BodyMembers.MAX_TOKENS, 1);
    }
    return edit;
  }
}
