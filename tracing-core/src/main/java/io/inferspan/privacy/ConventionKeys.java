package io.inferspan.privacy;

import java.util.Set;

/** Attribute keys and event names of the semantic conventions that are not in the catalogue. */
final class ConventionKeys {

  /** Keys of the semantic conventions whose values are names, numbers or codes. */
  static final Set<String> WITHOUT_CONTENT =
      words(
          """
          code.column.number code.file.path code.filepath code.function code.function.name
          code.line.number code.lineno code.namespace
          db.namespace db.operation.name db.response.status_code db.system db.system.name
          error.type exception.escaped exception.type
          gen_ai.conversation.id gen_ai.output.type gen_ai.request.choice.count
          gen_ai.request.encoding_formats gen_ai.request.frequency_penalty
          gen_ai.request.presence_penalty gen_ai.request.seed gen_ai.request.top_k
          gen_ai.response.id gen_ai.system gen_ai.token.type
          gen_ai.usage.cache_creation.input_tokens gen_ai.usage.cache_write.input_tokens
          gen_ai.usage.num_sequences
          http.flavor http.method http.request.body.size http.request.method
          http.request.method_original http.request.resend_count http.request.size
          http.request_content_length http.response.body.size http.response.size
          http.response.status_code http.response_content_length http.route http.scheme
          http.status_code
          messaging.batch.message_count messaging.destination.name messaging.operation.name
          messaging.operation.type messaging.system
          net.peer.name net.peer.port net.protocol.name net.protocol.version net.transport
          network.local.address network.local.port network.peer.address network.peer.port
          network.protocol.name network.protocol.version network.transport network.type
          otel.status_code peer.service
          rpc.grpc.status_code rpc.method rpc.response.status_code rpc.service rpc.system
          rpc.system.name
          server.address server.port thread.id thread.name
          url.domain url.port url.scheme url.template
          user_agent.name vllm.instrumenting_module_name
          """);

  /** Names of events of GenAI instrumentations. */
  static final Set<String> EVENTS =
      words(
          """
          exception
          gen_ai.assistant.message gen_ai.choice gen_ai.client.inference.operation.details
          gen_ai.content.completion gen_ai.content.prompt gen_ai.system.message gen_ai.tool.message
          gen_ai.user.message
          """);

  /** Prefixes of keys that contain prompts or completions. */
  private static final Set<String> CONTENT_PREFIXES =
      words(
          """
          ai.prompt ai.response
          db.query.parameter db.query.text db.statement
          document.content embedding. exception.message exception.stacktrace
          gen_ai.completion gen_ai.content gen_ai.evaluation.explanation gen_ai.event.content
          gen_ai.input.messages gen_ai.openai.request.response_format gen_ai.output.messages
          gen_ai.prompt gen_ai.request.stop_sequences gen_ai.retrieval gen_ai.system_instructions
          gen_ai.tool.call.arguments gen_ai.tool.call.result gen_ai.tool.definitions
          gen_ai.tool.message
          http.request.body.content http.request.header http.response.body.content
          http.response.header http.target http.url
          input.mime_type input.value
          langfuse.observation.input langfuse.observation.output langfuse.trace.input
          langfuse.trace.output
          llm.choices llm.completions llm.function_call llm.input_messages llm.invocation_parameters
          llm.output_messages llm.prompt_template llm.prompts llm.request.functions llm.tools
          message.content message_content messaging.message.body mlflow.span output.value
          request.prompt reranker. retrieval.documents tool.parameters tool_call.
          traceloop.entity.input traceloop.entity.output url.full url.query
          """);

  private ConventionKeys() {}

  private static Set<String> words(String text) {
    return Set.of(text.strip().split("\\s+"));
  }

  /**
   * Returns whether {@code key} is known to contain content; an allowed prefix does not include it.
   */
  static boolean holdsContent(String key) {
    return CONTENT_PREFIXES.stream().anyMatch(key::startsWith);
  }
}
