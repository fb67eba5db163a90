package io.inferspan.ebpf.context;

import io.opentelemetry.context.ContextStorage;

/** Beside a storage that is somebody else's. */
class PublishingContextStorageTest extends ContextStorageContract {

  PublishingContextStorageTest() {
    super(new PublishingContextStorage(ContextStorage.defaultStorage()));
  }
}
