package io.inferspan.pd.connector;

import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.metrics.Api;
import io.inferspan.pd.request.BodyMembers;
import io.inferspan.pd.request.PdRequest;

/** Makes a request ask for one token, which is all that a prefill pod is to generate. */
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

  /** One token, in one piece, said in the words that the client uses itself. */
  static JsonEdit firstToken(JsonEdit edit, PdRequest request) {
    edit.set(BodyMembers.STREAM, false)
        .remove(BodyMembers.STREAM_OPTIONS)
        .set(BodyMembers.MAX_TOKENS, 1);
    if (request.body().json().has(BodyMembers.MAX_COMPLETION_TOKENS)) {
      edit.set(BodyMembers.MAX_COMPLETION_TOKENS, 1);
    }
    switch (request.api()) {
      case RESPONSES -> edit.set(BodyMembers.MAX_OUTPUT_TOKENS, 1);
      case GENERATE -> edit.within(BodyMembers.SAMPLING_PARAMS).set(BodyMembers.MAX_TOKENS, 1);
      case CHAT_COMPLETIONS, PASSTHROUGH -> {}
    }
    return edit;
  }
}
