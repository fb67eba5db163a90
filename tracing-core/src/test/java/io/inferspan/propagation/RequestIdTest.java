package io.inferspan.propagation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RequestIdTest {

  @ParameterizedTest
  @ValueSource(strings = {"r-1", "!", "~", "chatcmpl/7;a=b"})
  void wellFormedId_isKept(String id) {
    assertThat(RequestId.of(id)).isEqualTo(id);
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", " ", "a b", "a\nb", "a\u007f", "é"})
  void otherId_isReplacedByARandomUuid(String id) {
    UUID replaced = UUID.fromString(RequestId.of(id));
    assertThat(replaced.version()).isEqualTo(4);
    assertThat(replaced.variant()).isEqualTo(2);
    assertThat(RequestId.of(id)).isNotEqualTo(replaced.toString());
  }
}
