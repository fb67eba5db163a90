package io.inferspan.ebpf.elf;

import io.inferspan.ebpf.elf.ElfFile.Section;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.XZInputStream;

/**
 * Finds the full symbol table of a file: its own, that of its debug file, or its compressed one, in
 * this order.
 */
final class DebugSymbols {

  private static final int MAX_COMPRESSED_BYTES = 16 << 20;
  private static final int MAX_BYTES = 64 << 20;
  private static final int MAX_DECODER_KIB = 64 << 10;

  /** The digits of the id that name the directory. */
  private static final int DIRECTORY_DIGITS = 2;

  private DebugSymbols() {}

  static @Nullable SymbolTable of(ElfFile file, String buildId, Path root) throws IOException {
    SymbolTable own = SymbolTable.of(file, SymbolTable.STATIC);
    if (own != null) {
      return own;
    }
    SymbolTable separate = inDebugFile(buildId, root);
    return separate == null ? compressed(file) : separate;
  }

  private static @Nullable SymbolTable inDebugFile(String buildId, Path root) throws IOException {
    if (buildId.length() <= DIRECTORY_DIGITS) {
      return null;
    }
    Path debugFile =
        root.resolve("usr/lib/debug/.build-id")
            .resolve(buildId.substring(0, DIRECTORY_DIGITS))
            .resolve(buildId.substring(DIRECTORY_DIGITS) + ".debug");
    if (!Files.isRegularFile(debugFile)) {
      return null;
    }
    try (FileChannel channel = ElfFile.open(debugFile)) {
      ElfFile debug = new ElfFile(channel);
      // In another build, functions have other addresses.
      return BuildId.of(debug).equals(buildId) ? SymbolTable.of(debug, SymbolTable.STATIC) : null;
    }
  }

  private static @Nullable SymbolTable compressed(ElfFile file) throws IOException {
    Section data = file.section(".gnu_debugdata");
    if (data == null || data.length() > MAX_COMPRESSED_BYTES) {
      return null;
    }
    byte[] bytes = file.read(data.offset(), data.length()).array();
    // Not typed as InputStream: to verify that, the JVM would load the optional library too early.
    try (XZInputStream plain =
        new XZInputStream(new ByteArrayInputStream(bytes), MAX_DECODER_KIB)) {
      return SymbolTable.of(new ElfFile(plain.readNBytes(MAX_BYTES)), SymbolTable.STATIC);
    } catch (IOException | NoClassDefFoundError brokenOrWithoutLibrary) {
      // The exported names of .dynsym remain.
      return null;
    }
  }
}
