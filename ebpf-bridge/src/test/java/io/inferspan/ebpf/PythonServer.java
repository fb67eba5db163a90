package io.inferspan.ebpf;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The threaded server of the test kit, which records its work, and whose libraries record their
 * calls.
 */
final class PythonServer implements AutoCloseable {

  private static final Pattern TRUTH =
      Pattern.compile(
          "\\{\"tid\": (\\d+), \"from\": (\\d+), \"to\": (\\d+), \"traceparent\": (?:null|\"(.*)\")}");
  private static final int HEADER_BYTES = 64;
  private static final int CALL_BYTES = 96;
  private static final int NAME_AT = 48;
  private static final int NAME_BYTES = 32;

  private final Path truth = TestKit.scratch("truth");
  private final Path log = TestKit.scratch("calls");
  private final JavaChild process;
  private final int port;

  /** The work of a thread for a request. */
  record Work(long tid, long fromNanos, long toNanos, String traceparent) {

    boolean covers(long thread, long startNanos, long endNanos) {
      return tid == thread && fromNanos <= startNanos && endNanos <= toNanos;
    }
  }

  /** A call as the library itself recorded it. */
  record Call(long entryNanos, long exitNanos, long tid, String function) {}

  private PythonServer(Map<String, String> environment) {
    Path kit = TestKit.directory();
    Map<String, String> all = new HashMap<>(environment);
    all.put("FAKE_CUDA_LOG", log.toString());
    try {
      Files.delete(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    process =
        JavaChild.start(
            List.of(
                "/usr/bin/python3", TestKit.server().toString(), kit.toString(), truth.toString()),
            all);
    port = Integer.parseInt(process.line());
  }

  static PythonServer start(Map<String, String> environment) {
    return new PythonServer(environment);
  }

  int port() {
    return port;
  }

  long pid() {
    return process.pid();
  }

  /** Returns what each thread did for each request. */
  List<Work> work() {
    try {
      List<Work> work = new ArrayList<>();
      for (String line : Files.readAllLines(truth)) {
        Matcher matcher = TRUTH.matcher(line);
        if (matcher.matches()) {
          String traceparent = matcher.group(4) == null ? "" : matcher.group(4);
          work.add(
              new Work(
                  Long.parseLong(matcher.group(1)),
                  Long.parseLong(matcher.group(2)),
                  Long.parseLong(matcher.group(3)),
                  traceparent));
        }
      }
      return work;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns every call of the stand-ins. */
  List<Call> calls() {
    try (FileChannel file = FileChannel.open(log, StandardOpenOption.READ)) {
      ByteBuffer header = read(file, 0, HEADER_BYTES);
      int count = (int) header.getLong(16);
      ByteBuffer calls = read(file, HEADER_BYTES, count * CALL_BYTES);
      List<Call> all = new ArrayList<>();
      for (int at = 0; at < count * CALL_BYTES; at += CALL_BYTES) {
        byte[] name = new byte[NAME_BYTES];
        calls.get(at + NAME_AT, name);
        String function = new String(name, StandardCharsets.US_ASCII).split("\0", 2)[0];
        all.add(
            new Call(calls.getLong(at), calls.getLong(at + 8), calls.getInt(at + 20), function));
      }
      return all;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ByteBuffer read(FileChannel file, long position, int bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    file.read(buffer, position);
    return buffer;
  }

  @Override
  public void close() {
    process.close();
  }
}
