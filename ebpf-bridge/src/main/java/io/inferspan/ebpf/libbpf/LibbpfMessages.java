package io.inferspan.ebpf.libbpf;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.inferspan.ebpf.linux.NativeFunction;
import io.inferspan.ebpf.linux.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/**
 * Captures libbpf's messages while a thread listens; other messages are dropped.
 *
 * <p>libbpf has one print function per process, and calls it on the thread that called libbpf.
 */
final class LibbpfMessages implements AutoCloseable {

  private static final int MAX_CHARS = 64 * 1024;
  private static final int LINE_BYTES = 8 * 1024;
  private static final int INFO = 1;

  private static final ThreadLocal<@Nullable LibbpfMessages> LISTENING = new ThreadLocal<>();
  private static final NativeFunction VSNPRINTF = NativeLibrary.c().function("vsnprintf");

  private final StringBuilder text = new StringBuilder();

  private LibbpfMessages() {}

  /** Captures the messages of this thread until closed. */
  static LibbpfMessages listen() {
    LibbpfMessages messages = new LibbpfMessages();
    LISTENING.set(messages);
    return messages;
  }

  String text() {
    return text.toString();
  }

  @Override
  public void close() {
    LISTENING.remove();
  }

  /** Returns the address of the callback for libbpf, which is valid for the life of the process. */
  @SuppressWarnings("restricted")
  static long callback() {
    FunctionDescriptor shape = FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    MethodType type = shape.toMethodType();
    try {
      MethodHandle print = MethodHandles.lookup().findStatic(LibbpfMessages.class, "print", type);
      return Linker.nativeLinker().upcallStub(print, shape, Arena.global()).address();
    } catch (NoSuchMethodException | IllegalAccessException impossible) {
      throw new LinkageError("print", impossible);
    }
  }

  /** Called by libbpf. It must not throw, because an exception would crash the JVM. */
  @SuppressWarnings("unused") // by name, through the callback
  private static int print(int level, MemorySegment format, MemorySegment arguments) {
    try {
      LibbpfMessages messages = LISTENING.get();
      if (messages != null && level <= INFO && messages.text.length() < MAX_CHARS) {
        messages.append(format.address(), arguments.address());
      }
    } catch (Throwable lost) {
      // A lost message is better than a crashed JVM.
    }
    return 0;
  }

  private void append(long format, long arguments) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment line = arena.allocate(LINE_BYTES);
      VSNPRINTF.callInt(line.address(), LINE_BYTES, format, arguments);
      text.append(line.getString(0));
    }
  }
}
