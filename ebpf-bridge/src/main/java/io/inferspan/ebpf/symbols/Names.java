package io.inferspan.ebpf.symbols;

import io.inferspan.ebpf.linux.Demangler;
import java.util.regex.Pattern;

/** Compilers' names as programmers wrote them. */
final class Names {

  private static final Pattern RUST_HASH = Pattern.compile("::h[0-9a-f]{16}$");

  private static final Pattern NEW_RUST = Pattern.compile("_R[0-9]*[BCIMNXY].+");

  private Names() {}

  /** Whether this is a name of Rust's newer kind. */
  static boolean isNewRust(String name) {
    return NEW_RUST.matcher(name).matches();
  }

  /**
   * A C++ name, or one of Rust's older kind, in plain text. All others stay as they are, among them
   * Rust's newer kind ({@code _R…}), which the C++ runtime does not read.
   */
  static String plain(String name) {
    String plain = Demangler.demangle(name);
    if (plain == null) {
      return name;
    }
    // Rust's older kind is a C++ name that ends with a hash.
    return RUST_HASH.matcher(plain).find() ? rust(plain) : plain;
  }

  private static String rust(String name) {
    return RUST_HASH
        .matcher(name)
        .replaceFirst("")
        .replace("_$", "$")
        .replace("$LT$", "<")
        .replace("$GT$", ">")
        .replace("$RF$", "&")
        .replace("$BP$", "*")
        .replace("$LP$", "(")
        .replace("$RP$", ")")
        .replace("$C$", ",")
        .replace("$u20$", " ")
        .replace("$u27$", "'")
        .replace("$u5b$", "[")
        .replace("$u5d$", "]")
        .replace("$u7b$", "{")
        .replace("$u7d$", "}")
        .replace("$u3b$", ";")
        .replace("$u2b$", "+")
        .replace("..", "::");
  }
}
