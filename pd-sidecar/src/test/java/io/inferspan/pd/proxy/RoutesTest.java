package io.inferspan.pd.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that span names contain only known paths, without client data. */
final class RoutesTest {

  @ParameterizedTest
  @CsvSource({
    "/v1/chat/completions, /v1/chat/completions",
    "/inference/v1/generate, /inference/v1/generate",
    "/v1/models, /v1/models",
    "/v1/models/meta-llama/Llama-3, /v1/models/{model}",
    "/v1/responses/resp_1, /v1/responses/{id}",
    "/v1/responses/resp_1/cancel, /v1/responses/{id}/cancel",
    "/v1/responses/resp_1/secret, _OTHER",
    "/v1/models/, _OTHER",
    "/v1/files/secret, _OTHER",
    "/v1/models2, _OTHER",
    "/secret, _OTHER",
    "/, _OTHER",
    "'', ''",
  })
  void path_hasATemplate(String path, String template) {
    assertThat(Routes.template(path)).isEqualTo(template);
  }
}
