package io.inferspan.ebpf.elf;

import static io.inferspan.ebpf.elf.ElfBytes.CODE_ADDRESS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Broken libraries: each is refused or read, and no offset is outside of the file. */
class ElfSymbolsFuzzTest {

  private static final int INPUTS = Integer.getInteger("elf.fuzz.inputs", 4_000);
  private static final long SEED = 20_261_121;
  private static final byte[] EXTREMES = {0, 1, 2, 0x7f, (byte) 0x80, (byte) 0xff};

  @TempDir private Path directory;

  @Test
  void brokenLibrary_isRefusedOrRead() throws IOException {
    System.out.println("seed " + SEED + ", " + INPUTS + " inputs");
    Random random = new Random(SEED);
    byte[] whole =
        new ElfBytes()
            .function("cuInit", CODE_ADDRESS)
            .function("cuLaunchKernel", CODE_ADDRESS + 0x80)
            .bytes();
    Path file = directory.resolve("lib.so");
    int read = 0;
    for (int i = 0; i < INPUTS; i++) {
      byte[] broken = mutated(whole, random);
      Files.write(file, broken);
      read += survives(file, broken.length) ? 1 : 0;
    }
    assertThat(read).as("inputs that were still libraries").isBetween(INPUTS / 20, INPUTS - 1);
  }

  private static boolean survives(Path file, int length) throws IOException {
    try {
      ElfSymbols symbols = ElfSymbols.of(file);
      for (String function : symbols.functions()) {
        assertThat(symbols.fileOffset(function).orElseThrow()).isBetween(0L, length - 1L);
      }
      return true;
    } catch (ElfException refused) {
      assertThat(refused).hasMessageContaining("ELF");
      return false;
    }
  }

  /** Changes random bytes, mostly in the tables. */
  private static byte[] mutated(byte[] whole, Random random) {
    byte[] bytes =
        random.nextInt(10) == 0
            ? Arrays.copyOf(whole, random.nextInt(whole.length))
            : whole.clone();
    for (int i = random.nextInt(6); i >= 0 && bytes.length > 0; i--) {
      int at =
          switch (random.nextInt(4)) {
            case 0 -> random.nextInt(0x78);
            case 1 -> 0x100 + random.nextInt(0x60);
            case 2 -> 0x640 + random.nextInt(0x80);
            default -> random.nextInt(whole.length);
          };
      byte value =
          random.nextBoolean()
              ? EXTREMES[random.nextInt(EXTREMES.length)]
              : (byte) random.nextInt(256);
      bytes[Math.min(at, bytes.length - 1)] = value;
    }
    return bytes;
  }
}
