package io.inferspan.ebpf.context;

import io.opentelemetry.context.ContextStorage;

/** In addition to a third party's storage. */
class PublishingContextStorageTest extends ContextStorageContract {

  PublishingContextStorageTest() {
    super(new PublishingContextStorage(ContextStorage.defaultStorage()));
  }
}
