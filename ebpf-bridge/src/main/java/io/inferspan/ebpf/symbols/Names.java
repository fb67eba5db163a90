package io.inferspan.ebpf.symbols;

import io.inferspan.ebpf.linux.Demangler;
import java.util.regex.Pattern;

/** Demangles names of functions. */
final class Names {

  private static final Pattern RUST_HASH = Pattern.compile("::h[0-9a-f]{16}$");

  private static final Pattern NEW_RUST = Pattern.compile("_R[0-9]*[BCIMNXY].+");

  private Names() {}

  /** Returns whether a name has Rust's v0 mangling. */
  static boolean isNewRust(String name) {
    return NEW_RUST.matcher(name).matches();
  }

  /**
   * Returns the demangled name of a C++ or legacy Rust function, and any other name unchanged. The
   * C++ runtime does not support Rust's v0 mangling ({@code _R…}).
   */
  static String plain(String name) {
    String plain = Demangler.demangle(name);
    if (plain == null) {
      return name;
    }
    // A legacy Rust name is a C++ name that ends with a hash.
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
