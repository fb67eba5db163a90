package io.inferspan.gateway.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.spi.VertxServiceProvider;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** A Vert.x context stores its request, whether or not Vert.x has loaded the service in time. */
final class RequestLocalTest {

  private static final String CLASS_PATH =
      System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

  @Test
  void vertxThatLoadsOurService_keepsRequestsInAPlaceOfTheirOwn() throws Exception {
    assertThat(new KeptRequest().call()).isEqualTo("the same, in its own place");
  }

  @Test
  void vertxThatDoesNotSeeOurService_keepsRequestsInTheSharedMap() throws Exception {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (Blind loader = new Blind()) {
      thread.setContextClassLoader(loader);
      Class<?> there = loader.loadClass(KeptRequest.class.getName());
      Callable<?> scene = (Callable<?>) there.getDeclaredConstructor().newInstance();
      assertThat(scene.call()).isEqualTo("the same, in the shared map");
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  /** Has all classes anew, and does not see who provides services to Vert.x. */
  private static final class Blind extends URLClassLoader {

    private static final String PROVIDERS =
        "META-INF/services/" + VertxServiceProvider.class.getName();

    Blind() throws MalformedURLException {
      super(urls(), ClassLoader.getPlatformClassLoader());
    }

    private static URL[] urls() throws MalformedURLException {
      List<URL> urls = new ArrayList<>();
      for (String entry : CLASS_PATH.split(File.pathSeparator, -1)) {
        urls.add(Path.of(entry).toUri().toURL());
      }
      return urls.toArray(URL[]::new);
    }

    @Override
    public Enumeration<URL> findResources(String name) throws IOException {
      return name.equals(PROVIDERS) ? Collections.emptyEnumeration() : super.findResources(name);
    }
  }
}
