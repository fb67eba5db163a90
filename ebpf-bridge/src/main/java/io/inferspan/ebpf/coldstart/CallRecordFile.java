package io.inferspan.ebpf.coldstart;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.inferspan.ebpf.flame.StackFormatException;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads and writes files in the format of vllm-coldstart-probe, another recorder of starts: one
 * JSON object per line, with all fields in a fixed order. Any other text is rejected with its line
 * and column, so writing the records of a file reproduces its bytes.
 */
public final class CallRecordFile {

  private static final int MAX_DIGITS = 20;

  private final InputStream in;
  private int next;
  private long line = 1;
  private long column = 1;

  private CallRecordFile(InputStream in) throws IOException {
    this.in = new BufferedInputStream(in);
    this.next = this.in.read();
  }

  /** Reads all records, in the file's order. */
  public static List<CallRecord> read(InputStream in) throws IOException {
    CallRecordFile file = new CallRecordFile(in);
    List<CallRecord> records = new ArrayList<>();
    while (file.next >= 0) {
      records.add(file.record());
    }
    return records;
  }

  /** Writes the records in their order. */
  public static void write(List<CallRecord> records, OutputStream out) throws IOException {
    OutputStream buffer = new BufferedOutputStream(out);
    for (CallRecord record : records) {
      buffer.write(line(record).getBytes(US_ASCII));
    }
    buffer.flush();
  }

  private static String line(CallRecord record) {
    return "{\"timestamp_ns\":"
        + Long.toUnsignedString(record.timestampNanos())
        + ",\"pid\":"
        + record.pid()
        + ",\"tid\":"
        + record.tid()
        + ",\"syscall_nr\":"
        + record.call()
        + ",\"kind\":"
        + (record.exit() ? 1 : 0)
        + ",\"ret\":"
        + record.result()
        + "}\n";
  }

  private CallRecord record() throws IOException {
    take("{\"timestamp_ns\":");
    long timestamp = number(Long.SIZE, false);
    take(",\"pid\":");
    long pid = number(Integer.SIZE, false);
    take(",\"tid\":");
    long tid = number(Integer.SIZE, false);
    take(",\"syscall_nr\":");
    long call = number(Integer.SIZE, false);
    take(",\"kind\":");
    boolean exit = number(1, false) == 1;
    take(",\"ret\":");
    long result = number(Long.SIZE - 1, true);
    take("}");
    if (next != '\n') {
      throw expected("the end of the line");
    }
    advance();
    line++;
    column = 1;
    return new CallRecord(timestamp, pid, tid, call, exit, result);
  }

  private void take(String text) throws IOException {
    for (int i = 0; i < text.length(); i++) {
      if (next != text.charAt(i)) {
        throw expected(text.substring(i));
      }
      advance();
    }
  }

  /** Reads an integer of at most {@code bits} bits, without leading zeros. */
  private long number(int bits, boolean signed) throws IOException {
    long start = column;
    StringBuilder digits = new StringBuilder();
    if (signed && next == '-') {
      digits.append('-');
      advance();
    }
    while (next >= '0' && next <= '9' && digits.length() <= MAX_DIGITS) {
      digits.append((char) next);
      advance();
    }
    if (!digits.toString().matches("0|-?[1-9][0-9]*")) {
      throw new StackFormatException(line, start, "a whole number");
    }
    BigInteger number = new BigInteger(digits.toString());
    if (number.bitLength() > bits) {
      throw new StackFormatException(line, start, "a number of at most " + bits + " bits");
    }
    return number.longValue();
  }

  private void advance() throws IOException {
    next = in.read();
    column++;
  }

  private StackFormatException expected(String what) {
    return new StackFormatException(line, column, what);
  }
}
