package io.inferspan.ebpf.context;

import io.opentelemetry.context.ContextStorage;

/** The contract for a wrapper of another storage. */
class PublishingContextStorageTest extends ContextStorageContract {

  PublishingContextStorageTest() {
    super(new PublishingContextStorage(ContextStorage.defaultStorage()));
  }
}
