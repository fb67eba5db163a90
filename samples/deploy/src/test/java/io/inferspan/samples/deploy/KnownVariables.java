package io.inferspan.samples.deploy;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.Locale;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/** Finds variables that are read on the class path: a class file contains their property. */
final class KnownVariables {

  private final String classPath = System.getProperty("java.class.path");

  /** Looks for {@code otel.service.name} where the variable is {@code OTEL_SERVICE_NAME}. */
  boolean isRead(String variable) throws IOException {
    String property = variable.toLowerCase(Locale.ROOT).replace('_', '.');
    for (String part : classPath.split(File.pathSeparator, -1)) {
      if (isOfTracing(part) && isIn(Path.of(part), property)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isOfTracing(String part) {
    return part.contains("opentelemetry-")
        || part.contains("inferspan-")
        || part.endsWith("classes");
  }

  private static boolean isIn(Path part, String property) throws IOException {
    if (Files.isDirectory(part)) {
      try (Stream<Path> files = Files.walk(part)) {
        for (Path file : files.filter(each -> each.toString().endsWith(".class")).toList()) {
          if (holds(Files.readAllBytes(file), property)) {
            return true;
          }
        }
        return false;
      }
    }
    try (JarFile jar = new JarFile(part.toString())) {
      for (Enumeration<JarEntry> all = jar.entries(); all.hasMoreElements(); ) {
        JarEntry entry = all.nextElement();
        if (entry.getName().endsWith(".class")
            && holds(jar.getInputStream(entry).readAllBytes(), property)) {
          return true;
        }
      }
      return false;
    }
  }

  /** Searches for a separate constant, which begins with its length. */
  private static boolean holds(byte[] classFile, String property) {
    String constant = "" + (char) 1 + (char) 0 + (char) property.length() + property;
    return new String(classFile, StandardCharsets.ISO_8859_1).contains(constant);
  }
}
