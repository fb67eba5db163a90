package io.inferspan.ebpf.linux;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The major and minor version of a kernel. */
public record KernelVersion(int major, int minor) {

  /** Stands for a release string without a version. */
  public static final KernelVersion UNKNOWN = new KernelVersion(0, 0);

  private static final Pattern RELEASE = Pattern.compile("(\\d{1,4})\\.(\\d{1,4}).*");

  /** Parses a release such as {@code 6.1.0-18-amd64}. */
  public static KernelVersion of(String release) {
    Matcher matcher = RELEASE.matcher(release);
    return matcher.matches()
        ? new KernelVersion(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)))
        : UNKNOWN;
  }

  /** Returns whether this is at least the given version. */
  public boolean atLeast(int otherMajor, int otherMinor) {
    return major != otherMajor ? major > otherMajor : minor >= otherMinor;
  }

  @Override
  public String toString() {
    return equals(UNKNOWN) ? "unknown" : major + "." + minor;
  }
}
