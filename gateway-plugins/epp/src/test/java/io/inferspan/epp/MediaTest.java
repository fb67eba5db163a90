package io.inferspan.epp;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Media in messages as clients of the three APIs send them. */
final class MediaTest {

  private static final long SEED = 17;
  private static final String PICTURE =
      "{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://a/1.png\",\"detail\":\"low\"}}";

  private static Media within(String input) {
    return Media.within(input.getBytes(StandardCharsets.UTF_8));
  }

  private static Media content(String... parts) {
    return within("[{\"role\":\"user\", \"content\" : [" + String.join(" , ", parts) + "]}]");
  }

  @Test
  void partsOfEachKind_areCounted() {
    assertThat(
            content(
                "{\"type\":\"text\",\"text\":\"{\\\"type\\\":\\\"image_url\\\"}\"}",
                PICTURE,
                "{\"video_url\":{\"url\":\"v\"},\"type\":\"video_url\"}",
                "{\"type\":\"input_audio\",\"input_audio\":{\"format\":\"wav\",\"data\":\"UklG\"}}",
                "{\"type\":\"input_audio\",\"input_audio\":{\"format\":\"wav\",\"data\":\"Uklx\"}}"))
        .isEqualTo(new Media("audio,image,video", 4));
  }

  @Test
  void oneSource_countsOnce() {
    String same = PICTURE.replace("\"low\"", "\"high\"");
    String other = PICTURE.replace("1.png", "2.png");
    assertThat(content(PICTURE, same, other)).isEqualTo(new Media("image", 2));
    assertThat(
            within(
                "[{\"content\":[%s]},{\"content\":\"and?\"},{\"content\":[%s]}]"
                    .formatted(PICTURE, PICTURE)))
        .isEqualTo(new Media("image", 1));
  }

  @Test
  void otherApis_nameTheirsOtherwise() {
    assertThat(content("{\"type\":\"input_image\",\"image_url\":\"https://a/1.png\"}"))
        .isEqualTo(new Media("image", 1));
    assertThat(
            content(
                "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"data\":\"iVBO\"}}",
                "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"data\":\"iVBP\"}}"))
        .isEqualTo(new Media("image", 2));
  }

  @Test
  void textAndLookalikesOfMedia_areNotCounted() {
    Media none = new Media("none", 0);
    assertThat(within("")).isEqualTo(none);
    assertThat(within("\"a prompt\"")).isEqualTo(none);
    assertThat(within("[INST] look at image_url [/INST]")).isEqualTo(none);
    assertThat(within("[[1,2],[3]]")).isEqualTo(none);
    assertThat(within("[{\"role\":\"user\",\"content\":\"image_url\"}]")).isEqualTo(none);
    assertThat(within("[{\"tool_calls\":[" + PICTURE + "]}]")).isEqualTo(none);
  }

  @Test
  void mediaSetByTheCaller_areNotCountedAgain() {
    byte[] input = ("[{\"content\":[" + PICTURE + "]}]").getBytes(StandardCharsets.UTF_8);
    InferenceRequest told =
        InferenceRequest.to("m").input(input).media(List.of("Video", "audio"), 7).build();
    assertThat(told.modality()).isEqualTo("audio,video");
    assertThat(told.mediaItems()).isEqualTo(7);
    InferenceRequest counted = InferenceRequest.to("m").input(input).build();
    assertThat(counted.modality()).isEqualTo("image");
    assertThat(counted.mediaItems()).isEqualTo(1);
    InferenceRequest unknown = InferenceRequest.to("m").inputBytes(5).build();
    assertThat(unknown.modality()).isNull();
    assertThat(unknown.mediaItems()).isEqualTo(InferenceRequest.UNKNOWN);
  }

  @Test
  void mutatedMessages_areNoError() {
    System.out.println("seed " + SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    byte[] seed =
        ("[{\"content\":[" + PICTURE + "," + PICTURE + "]}]").getBytes(StandardCharsets.UTF_8);
    byte[] marks = "{}[]\",:\\ t".getBytes(StandardCharsets.US_ASCII);
    for (int round = 0; round < 100_000; round++) {
      byte[] bytes = Arrays.copyOf(seed, random.nextInt(seed.length + 1));
      for (int i = 0; bytes.length > 0 && i < 3; i++) {
        bytes[random.nextInt(bytes.length)] = marks[random.nextInt(marks.length)];
      }
      assertThat(Media.within(bytes).items()).isBetween(0, 8);
    }
  }

  @Test
  void distinctMedia_areCountedUpToTheLimit() {
    StringBuilder parts = new StringBuilder();
    for (int i = 0; i < 5000; i++) {
      parts.append(i == 0 ? "" : ",").append(PICTURE.replace("1.png", i + ".png"));
    }
    assertThat(content(parts.toString())).isEqualTo(new Media("image", 1024));
  }
}
