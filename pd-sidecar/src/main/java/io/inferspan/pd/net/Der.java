package io.inferspan.pd.net;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;

/** Encodes the few ASN.1 elements of a certificate and a private key as DER. */
final class Der {
  private static final DateTimeFormatter SECONDS =
      DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

  /** From this year on, X.509 dates include the century; before, they must not. */
  private static final int CENTURY_SINCE_YEAR = 2050;

  private Der() {}

  static byte[] element(int tag, byte[]... parts) {
    int length = Arrays.stream(parts).mapToInt(part -> part.length).sum();
    ByteArrayOutputStream out = new ByteArrayOutputStream(length + 6);
    out.write(tag);
    if (length < 0x80) {
      out.write(length);
    } else {
      byte[] digits = BigInteger.valueOf(length).toByteArray();
      int sign = digits[0] == 0 ? 1 : 0;
      out.write(0x80 | (digits.length - sign));
      out.write(digits, sign, digits.length - sign);
    }
    Arrays.stream(parts).forEach(out::writeBytes);
    return out.toByteArray();
  }

  static byte[] sequence(byte[]... parts) {
    return element(0x30, parts);
  }

  static byte[] integer(BigInteger value) {
    return element(0x02, value.toByteArray());
  }

  static byte[] octets(byte[] value) {
    return element(0x04, value);
  }

  static byte[] bits(byte[] value) {
    return element(0x03, new byte[] {0}, value);
  }

  static byte[] time(Instant instant) {
    String text = SECONDS.format(instant);
    boolean century = instant.atZone(ZoneOffset.UTC).getYear() >= CENTURY_SINCE_YEAR;
    String written = century ? text : text.substring(2);
    return element(century ? 0x18 : 0x17, written.getBytes(StandardCharsets.US_ASCII));
  }

  /** Returns the first element inside {@code sequence}, with its header. */
  static byte[] firstIn(byte[] sequence) {
    int start = contentStart(sequence, 0);
    return Arrays.copyOfRange(
        sequence, start, contentStart(sequence, start) + length(sequence, start));
  }

  private static int contentStart(byte[] der, int at) {
    int head = der[at + 1] & 0xff;
    return at + 2 + (head < 0x80 ? 0 : head & 0x7f);
  }

  private static int length(byte[] der, int at) {
    int head = der[at + 1] & 0xff;
    if (head < 0x80) {
      return head;
    }
    return new BigInteger(1, der, at + 2, head & 0x7f).intValueExact();
  }
}
