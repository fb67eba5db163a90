package io.inferspan.gateway;

import org.jspecify.annotations.Nullable;

/** An inference API, recognised by the end of its path. */
enum Api {
  CHAT_COMPLETIONS("/chat/completions", "chat"),
  COMPLETIONS("/completions", "text_completion"),
  RESPONSES("/responses", "chat"),
  MESSAGES("/messages", "chat"),
  EMBEDDINGS("/embeddings", "embeddings"),
  OTHER("", null);

  private static final Api[] ALL = values();

  private final String path;
  private final @Nullable String operation;
  private final @Nullable String route;

  Api(String path, @Nullable String operation) {
    this.path = path;
    this.operation = operation;
    this.route = operation == null ? null : "/v1" + path;
  }

  /**
   * Returns the API whose path is a suffix of the given path. Chat completions are checked before
   * completions.
   */
  static Api of(String path) {
    int query = path.indexOf('?');
    int end = query < 0 ? path.length() : query;
    for (Api api : ALL) {
      if (api != OTHER && path.startsWith(api.path, end - api.path.length())) {
        return api;
      }
    }
    return OTHER;
  }

  /** Returns the {@code gen_ai.operation.name}; null if the path is not an inference API. */
  @Nullable String operation() {
    return operation;
  }

  /** Returns the route to use if the gateway reports none. */
  @Nullable String route() {
    return route;
  }
}
