// A client that sets the fieldManager of writes if the caller does not; managedFields contain it.

import type { KubeObject } from "../apimachinery/object.ts"
import { ForwardingClient } from "./forwarding-client.ts"
import type { KubeClient, PatchOptions, Resource, WatchOptions, WriteOptions } from "./rest.ts"

export function withFieldManager(client: KubeClient, fieldManager: string): KubeClient {
  return new Writer(client, fieldManager)
}

class Writer extends ForwardingClient {
  readonly #client: KubeClient
  readonly #fieldManager: string

  constructor(client: KubeClient, fieldManager: string) {
    super()
    this.#client = client
    this.#fieldManager = fieldManager
  }

  protected override call<T>(make: (client: KubeClient) => Promise<T>) {
    return make(this.#client)
  }

  override watch<T extends KubeObject>(resource: Resource, options: WatchOptions) {
    return this.#client.watch<T>(resource, options)
  }

  override create<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions) {
    return super.create(resource, object, this.#named(options))
  }

  override update<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions) {
    return super.update(resource, object, this.#named(options))
  }

  override patch<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    patch: unknown,
    options: PatchOptions,
  ) {
    return super.patch<T>(resource, namespace, name, patch, this.#named(options))
  }

  #named<Options extends WriteOptions>(options: Options | undefined): Options {
    return { fieldManager: this.#fieldManager, ...options } as Options
  }
}
