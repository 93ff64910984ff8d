// A client that sets the fieldManager of writes if the caller does not; managedFields contain it.

import type { KubeObject } from "../apimachinery/object.ts"
import type {
  DeleteOptions,
  KubeClient,
  ListOptions,
  PatchOptions,
  ReadOptions,
  Resource,
  WatchOptions,
  WriteOptions,
} from "./rest.ts"

export function withFieldManager(client: KubeClient, fieldManager: string): KubeClient {
  return new Writer(client, fieldManager)
}

/** A class, because controllers need one for each call. */
class Writer implements KubeClient {
  readonly #client: KubeClient
  readonly #fieldManager: string

  constructor(client: KubeClient, fieldManager: string) {
    this.#client = client
    this.#fieldManager = fieldManager
  }

  discover() {
    return this.#client.discover()
  }

  unavailable() {
    return this.#client.unavailable()
  }

  get<T extends KubeObject>(resource: Resource, namespace: string | undefined, name: string, options?: ReadOptions) {
    return this.#client.get<T>(resource, namespace, name, options)
  }

  raw(path: string) {
    return this.#client.raw(path)
  }

  list<T extends KubeObject>(resource: Resource, options?: ListOptions) {
    return this.#client.list<T>(resource, options)
  }

  watch<T extends KubeObject>(resource: Resource, options: WatchOptions) {
    return this.#client.watch<T>(resource, options)
  }

  create<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions) {
    return this.#client.create(resource, object, this.#named(options))
  }

  update<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions) {
    return this.#client.update(resource, object, this.#named(options))
  }

  patch<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    patch: unknown,
    options: PatchOptions,
  ) {
    return this.#client.patch<T>(resource, namespace, name, patch, this.#named(options))
  }

  delete(resource: Resource, namespace: string | undefined, name: string, options?: DeleteOptions) {
    return this.#client.delete(resource, namespace, name, options)
  }

  deleteCollection(...call: Parameters<KubeClient["deleteCollection"]>) {
    return this.#client.deleteCollection(...call)
  }

  #named<Options extends WriteOptions>(options: Options | undefined): Options {
    return { fieldManager: this.#fieldManager, ...options } as Options
  }
}
