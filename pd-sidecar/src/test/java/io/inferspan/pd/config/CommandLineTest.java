package io.inferspan.pd.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CommandLineTest {

  @Test
  void value_followsAnEqualsSign_orIsTheNextArgument() throws ConfigException {
    assertThat(Parsed.config("--port=8111").get(Settings.PORT)).isEqualTo(8111);
    assertThat(Parsed.config("--port", "8111").get(Settings.PORT)).isEqualTo(8111);
    assertThat(Parsed.config("--port", "+8111").get(Settings.PORT)).isEqualTo(8111);
    assertThat(Parsed.config("--cert-path", "a=b").path(Settings.CERT_PATH)).hasToString("a=b");
    assertThat(Parsed.config("--cert-path=a=b").path(Settings.CERT_PATH)).hasToString("a=b");
  }

  @Test
  void nextArgument_isTheValue_evenIfItLooksLikeAFlag() throws ConfigException {
    assertThat(Parsed.config("--cert-path", "--tracing").path(Settings.CERT_PATH))
        .hasToString("--tracing");
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "t", "T", "true", "TRUE", "True"})
  void boolean_isTrueInSixSpellings(String text) throws ConfigException {
    assertThat(Parsed.config("--tracing=" + text).get(Settings.TRACING)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "f", "F", "false", "FALSE", "False"})
  void boolean_isFalseInSixSpellings(String text) throws ConfigException {
    assertThat(Parsed.config("--secure-proxy=" + text).get(Settings.SECURE_PROXY)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "yes", "tRUE", "2"})
  void boolean_inAnotherSpelling_isRefused(String text) {
    assertThat(Parsed.refusal("--tracing=" + text))
        .isEqualTo("tracing must be true or false, but is \"%s\" (from --tracing)".formatted(text));
  }

  @Test
  void boolean_neverTakesTheNextArgument() throws ConfigException {
    SidecarConfig config = Parsed.config("--tracing", "false", "--port=8111");

    assertThat(config.get(Settings.TRACING)).isTrue();
    assertThat(config.get(Settings.PORT)).isEqualTo(8111);
    assertThat(config.notes())
        .containsExactly(
            "the argument \"false\" is not a flag and is ignored;"
                + " a boolean takes its value as in --tracing=false");
  }

  @Test
  void repeatedList_isJoined() throws ConfigException {
    assertThat(Parsed.config("--enable-tls=prefiller,decoder").tls())
        .containsExactlyInAnyOrder("prefiller", "decoder");
    assertThat(Parsed.config("--enable-tls", "prefiller", "--enable-tls=encoder").tls())
        .containsExactlyInAnyOrder("prefiller", "encoder");
    assertThat(Parsed.config("--enable-tls=").tls()).isEmpty();
    assertThat(Parsed.config("--allow-target=b,a", "--allow-target=c").get(Settings.ALLOW_TARGET))
        .containsExactly("b", "a", "c");
  }

  @Test
  void lastOfRepeatedFlags_counts() throws ConfigException {
    assertThat(Parsed.config("--port=1", "--port=2").get(Settings.PORT)).isEqualTo(2);
    assertThat(Parsed.config("--tracing", "--tracing=false").get(Settings.TRACING)).isFalse();
  }

  @Test
  void portZero_isAnyFreePort() throws ConfigException {
    assertThat(Parsed.config("--port=0").get(Settings.PORT)).isZero();
  }

  @Test
  void doubleDash_endsTheFlags() throws ConfigException {
    SidecarConfig config = Parsed.config("--tracing", "--", "--port=1", "--nonsense", "-x");

    assertThat(config.get(Settings.PORT)).isEqualTo(8000);
    assertThat(config.notes()).hasSize(3);
  }

  @Test
  void emptyArgumentAndSingleDash_areNotFlags() throws ConfigException {
    assertThat(Parsed.config("", "-", "word").notes()).hasSize(3);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--nonsense", "--nonsense=1", "---port=1", "--=1", "--Port=1", "-port=1"})
  void unknownFlag_isRefused(String flag) {
    int equals = flag.startsWith("--") ? flag.indexOf('=') : -1;
    assertThat(Parsed.refusal(flag))
        .isEqualTo(
            "unknown flag \"%s\" (from the command line); --help lists the flags"
                .formatted(equals < 0 ? flag : flag.substring(0, equals)));
  }

  @Test
  void flagWithoutItsValue_isRefused() {
    assertThat(Parsed.refusal("--tracing", "--port"))
        .isEqualTo("the flag --port needs a value: a whole number from 0 to 65535");
    assertThat(Parsed.refusal("-v"))
        .isEqualTo(
            "the flag -v needs a value: one of trace, debug, info, warn, error, or a verbosity"
                + " such as 4");
  }

  @Test
  void help_ignoresTheArgumentsAfterIt() throws ConfigException {
    for (String flag : List.of("--help", "-h")) {
      assertThat(Invocation.parse(List.of(flag, "--nonsense"), Map.of()))
          .isInstanceOf(Invocation.ShowHelp.class);
    }
    assertThat(Invocation.parse(List.of("--version"), Map.of()))
        .isEqualTo(new Invocation.ShowVersion());
  }

  @ParameterizedTest
  @CsvSource({
    "-v=5, TRACE",
    "-v5, TRACE",
    "--v=4, DEBUG",
    "--v=2, INFO",
    "--v=-1, INFO",
    "--v=10, TRACE",
    "--zap-log-level=debug, DEBUG",
    "--zap-log-level=info, INFO",
    "--zap-log-level=error, ERROR",
    "--zap-log-level=panic, ERROR",
    "--zap-log-level=warn, WARNING",
    "--zap-log-level=5, TRACE"
  })
  void logLevelOfGo_isTranslated(String flag, Level level) throws ConfigException {
    SidecarConfig config = Parsed.config(flag);

    assertThat(config.get(Settings.LOG_LEVEL)).isEqualTo(level);
    assertThat(config.notes()).isEmpty();
  }

  @Test
  void verbosity_mayBeTheNextArgument() throws ConfigException {
    assertThat(Parsed.config("-v", "5").get(Settings.LOG_LEVEL)).isEqualTo(Level.TRACE);
    assertThat(Parsed.config("--v", "5").get(Settings.LOG_LEVEL)).isEqualTo(Level.TRACE);
    assertThat(Parsed.config().get(Settings.LOG_LEVEL)).isEqualTo(Level.INFO);
  }

  @Test
  void invalidLogLevel_isRefused() {
    assertThat(Parsed.refusal("--zap-log-level=loud"))
        .isEqualTo(
            "zap-log-level must be one of trace, debug, info, warn, error, or a verbosity such as"
                + " 4, but is \"loud\" (from --zap-log-level)");
  }

  @Test
  void otherFlagsOfGosLoggers_areIgnoredWithANoteEach() throws ConfigException {
    SidecarConfig config =
        Parsed.config(
            "--zap-encoder=json",
            "--zap-encoder=console",
            "--zap-devel",
            "--zap-stacktrace-level",
            "error",
            "--zap-time-encoding=iso8601",
            "--logtostderr",
            "--port=8111");

    assertThat(config.get(Settings.PORT)).isEqualTo(8111);
    assertThat(config.notes())
        .containsExactly(
            "--zap-encoder is a flag of Go's loggers and is ignored",
            "--zap-devel is a flag of Go's loggers and is ignored",
            "--zap-stacktrace-level is a flag of Go's loggers and is ignored",
            "--zap-time-encoding is a flag of Go's loggers and is ignored",
            "--logtostderr is a flag of Go's loggers and is ignored");
  }

  @Test
  void longArguments_areTruncatedInMessages() {
    assertThat(Parsed.refusal("--" + "x\n".repeat(10_000)))
        .hasSizeLessThan(200)
        .doesNotContain("\n");
  }
}
