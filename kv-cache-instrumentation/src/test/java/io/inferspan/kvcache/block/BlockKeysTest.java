package io.inferspan.kvcache.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class BlockKeysTest {

  private static final String MODEL = "test-model";
  private static final int[] TOKENS = IntStream.rangeClosed(1, 32).toArray();
  private static final long SEED = 20261121;

  /** Algorithm, seed, model, and the specification's values for init, root and two blocks. */
  private static final String[][] VECTORS = {
    {
      "cbor-fnv",
      "",
      MODEL,
      "14695981039346656037",
      "17515353698173365712",
      "9540012594951042066",
      "16921089685996993662",
    },
    {
      "cbor-fnv",
      "42",
      MODEL,
      "571532774284038691",
      "4073757287576237257",
      "3239622172847516705",
      "18365376266021390534",
    },
    {
      "cbor-fnv",
      "",
      "meta-llama/Llama-3.1-8B-Instruct",
      "14695981039346656037",
      "11321425344338229290",
      "369436768847880749",
      "14719338691038004320",
    },
    {
      "xxh64",
      "",
      MODEL,
      "17241709254077376921",
      "658786475292698776",
      "13553460584553255540",
      "9887990258693334188",
    },
    {
      "xxh64",
      "42",
      MODEL,
      "7919287270473417401",
      "15859082555703346732",
      "9464999881402841487",
      "9092100070645212763",
    },
  };

  static Stream<Arguments> vectors() {
    return Arrays.stream(VECTORS).map(vector -> Arguments.of((Object) vector));
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void vectorsOfTheSpecification_areMade(String[] vector) {
    String algorithm = vector[0];
    String seed = vector[1];
    String model = vector[2];
    BlockKeys keys = BlockKeys.builder().algorithm(algorithm).seed(seed).build();

    assertThat(init(algorithm, seed)).isEqualTo(vector[3]);
    assertThat(Long.toUnsignedString(hasher(algorithm, seed).root(model))).isEqualTo(vector[4]);
    assertThat(unsigned(keys.of(model, TOKENS))).containsExactly(vector[5], vector[6]);
  }

  @Test
  void cborOfTheRoot_isThatOfTheSpecification() {
    byte[] bytes = PlainBlockKeys.cborRoot(0xcbf29ce484222325L, MODEL);

    assertThat(HexFormat.of().formatHex(bytes))
        .isEqualTo("831bcbf29ce484222325f66a746573742d6d6f64656c");
    assertThat(Fnv1a64.update(Fnv1a64.EMPTY, bytes)).isEqualTo(hasher("cbor-fnv", "").root(MODEL));
  }

  @ParameterizedTest
  @CsvSource({"cbor-fnv, 13689762014330163860", "xxh64, 9643808326564029811"})
  void anExtraHash_givesTheKeyOfTheSpecification(String algorithm, String block0) {
    BlockKeys keys = BlockKeys.builder().algorithm(algorithm).build();
    BlockExtras extras = BlockExtras.ofBlocks(List.of(List.of("abc123")));

    assertThat(unsigned(keys.of(MODEL, first16(), extras))).containsExactly(block0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"cbor-fnv", "xxh64"})
  void case43_keysAreDeterministic(String algorithm) {
    BlockKeys one = BlockKeys.builder().algorithm(algorithm).seed("7").build();
    BlockKeys other = BlockKeys.builder().algorithm(algorithm).seed("7").build();

    assertThat(one.of(MODEL, TOKENS)).isEqualTo(other.of(MODEL, TOKENS.clone()));
    assertThat(one.of(MODEL, TOKENS)).isEqualTo(one.of(MODEL, TOKENS));
  }

  @ParameterizedTest
  @ValueSource(strings = {"cbor-fnv", "xxh64"})
  void case43_seedModelParentAndExtra_eachChangeTheKey(String algorithm) {
    BlockKeys keys = BlockKeys.builder().algorithm(algorithm).build();
    BlockKeys seeded = BlockKeys.builder().algorithm(algorithm).seed("1").build();
    BlockExtras image = BlockExtras.ofBlocks(List.of(List.of("image")));
    int[] block = first16();

    List<long[]> all =
        List.of(
            keys.of(MODEL, block),
            seeded.of(MODEL, block),
            keys.of("other", block),
            keys.after(99, MODEL, block, BlockExtras.none()),
            keys.of(MODEL, block, image),
            keys.of(MODEL, block, BlockExtras.none().withCacheSalt("salt")));
    assertThat(all.stream().map(key -> key[0]).distinct()).hasSize(all.size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"cbor-fnv", "xxh64"})
  void case43_aPartialBlock_isDropped(String algorithm) {
    BlockKeys keys = BlockKeys.builder().algorithm(algorithm).build();

    assertThat(keys.of(MODEL, Arrays.copyOf(TOKENS, 15))).isEmpty();
    assertThat(keys.of(MODEL, Arrays.copyOf(TOKENS, 31)))
        .isEqualTo(keys.of(MODEL, Arrays.copyOf(TOKENS, 16)));
    assertThat(keys.of(MODEL, new int[0])).isEmpty();
  }

  @Test
  void case43_extrasForAnotherNumberOfBlocks_areRefused() {
    BlockExtras three = BlockExtras.ofBlocks(List.of(List.of(), List.of(), List.of("image")));

    assertThatIllegalArgumentException()
        .isThrownBy(() -> BlockKeys.withDefaults().of(MODEL, TOKENS, three))
        .withMessage(
            "Extras are given for 3 blocks, but the tokens fill 2; there must be one list for"
                + " each");
  }

  @ParameterizedTest
  @ValueSource(strings = {"cbor-fnv", "xxh64"})
  void aParentKey_continuesItsChain(String algorithm) {
    BlockKeys keys = BlockKeys.builder().algorithm(algorithm).build();
    long[] whole = keys.of(MODEL, TOKENS);
    int[] rest = Arrays.copyOfRange(TOKENS, 16, 32);

    assertThat(keys.after(whole[0], MODEL, rest, BlockExtras.none())).containsExactly(whole[1]);
    assertThat(keys.after(whole[0], "not looked at", rest, BlockExtras.none()))
        .containsExactly(whole[1]);
    assertThat(keys.after(0, MODEL, TOKENS, BlockExtras.none())).isEqualTo(whole);
  }

  @ParameterizedTest
  @ValueSource(strings = {"cbor-fnv", "xxh64"})
  void aCacheSalt_isTheLastExtraOfTheFirstBlock(String algorithm) {
    BlockKeys keys = BlockKeys.builder().algorithm(algorithm).build();
    BlockExtras salted =
        BlockExtras.ofBlocks(List.of(List.of("image"), List.of("sound"))).withCacheSalt("salt");
    BlockExtras spelledOut =
        BlockExtras.ofBlocks(List.of(List.of("image", "salt"), List.of("sound")));

    assertThat(keys.of(MODEL, TOKENS, salted)).isEqualTo(keys.of(MODEL, TOKENS, spelledOut));
    assertThat(keys.of(MODEL, TOKENS, BlockExtras.none().withCacheSalt("")))
        .isEqualTo(keys.of(MODEL, TOKENS));
  }

  @Test
  void aContinuedChain_doesNotHashTheCacheSaltAgain() {
    BlockKeys keys = BlockKeys.withDefaults();
    BlockExtras salt = BlockExtras.none().withCacheSalt("salt");
    long[] whole = keys.of(MODEL, TOKENS, salt);

    assertThat(keys.after(whole[0], MODEL, Arrays.copyOfRange(TOKENS, 16, 32), salt))
        .containsExactly(whole[1]);
  }

  @Test
  void aLoraName_replacesTheModelName() {
    assertThat(BlockKeys.hashedName(MODEL, null)).isEqualTo(MODEL);
    assertThat(BlockKeys.hashedName(MODEL, "")).isEqualTo(MODEL);
    assertThat(BlockKeys.hashedName(MODEL, "adapter")).isEqualTo("adapter");
  }

  @Test
  void aWrongSetting_isRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> BlockKeys.builder().algorithm("sha256"))
        .withMessage("algorithm is 'sha256'; it must be cbor-fnv or xxh64");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> BlockKeys.builder().blockSizeTokens(0))
        .withMessage("blockSizeTokens is 0; it must be 1 or more");
  }

  @Test
  void randomPrompts_haveTheKeysThatAPlainImplementationMakes() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int round = 0; round < 3_000; round++) {
      int blockSize = 1 + random.nextInt(round % 10 == 0 ? 300 : 20);
      List<List<String>> extras = extras(random, 1 + random.nextInt(5));
      int[] tokens = tokens(random, extras.size() * blockSize);
      List<Integer> boxed = IntStream.of(tokens).boxed().toList();
      String seed = "s".repeat(random.nextInt(40));
      String model = text(random);
      BlockKeys.Builder keys = BlockKeys.builder().seed(seed).blockSizeTokens(blockSize);
      BlockExtras given = BlockExtras.ofBlocks(extras);

      assertThat(keys.algorithm("cbor-fnv").build().of(model, tokens, given))
          .as("seed %d, round %d", SEED, round)
          .containsExactly(PlainBlockKeys.cborFnv(seed, model, boxed, extras).toArray(Long[]::new));
      assertThat(keys.algorithm("xxh64").build().of(model, tokens, given))
          .as("seed %d, round %d", SEED, round)
          .containsExactly(PlainBlockKeys.xxh64(seed, model, boxed, extras).toArray(Long[]::new));
    }
  }

  private static List<List<String>> extras(SplittableRandom random, int blocks) {
    List<List<String>> extras = new ArrayList<>();
    for (int i = 0; i < blocks; i++) {
      List<String> own = new ArrayList<>();
      for (int left = random.nextInt(6) - 3; left > 0; left--) {
        own.add(text(random));
      }
      extras.add(own);
    }
    return extras;
  }

  /** Tokens of every length that CBOR knows, the edges between them often. */
  private static int[] tokens(SplittableRandom random, int count) {
    int[] edges = {0, 23, 24, 255, 256, 0xffff, 0x10000, 0xffffff, 0x1000000, 1 << 31, ~0};
    return IntStream.range(0, count)
        .map(
            i ->
                random.nextInt(3) == 0
                    ? edges[random.nextInt(edges.length)]
                    : random.nextInt() >>> random.nextInt(32))
        .toArray();
  }

  private static String text(SplittableRandom random) {
    int[] letters = {'a', 'Z', '/', 'é', '漢', 0x1F600};
    StringBuilder text = new StringBuilder();
    for (int left = random.nextInt(random.nextInt(20) == 0 ? 300 : 40); left > 0; left--) {
      text.appendCodePoint(letters[random.nextInt(letters.length)]);
    }
    return text.toString();
  }

  private static int[] first16() {
    return Arrays.copyOf(TOKENS, 16);
  }

  private static BlockHasher hasher(String algorithm, String seed) {
    return HashAlgorithm.parse(algorithm).hasher(seed.getBytes(StandardCharsets.UTF_8));
  }

  private static String init(String algorithm, String seed) {
    byte[] octets = seed.getBytes(StandardCharsets.UTF_8);
    if (algorithm.equals("cbor-fnv")) {
      return Long.toUnsignedString(Fnv1a64.update(Fnv1a64.EMPTY, octets));
    }
    XxHash64 hash = new XxHash64();
    hash.update(octets);
    return Long.toUnsignedString(hash.finish());
  }

  private static List<String> unsigned(long[] keys) {
    return Arrays.stream(keys).mapToObj(Long::toUnsignedString).toList();
  }
}
