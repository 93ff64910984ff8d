// A client that passes its calls on to another one. Those that extend it say what happens before and after.

import type { KubeObject } from "../apimachinery/object.ts"
import type {
  DeleteOptions,
  KubeClient,
  KubeList,
  ListOptions,
  PatchOptions,
  ReadOptions,
  Resource,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./rest.ts"

/** A class, because controllers need some for each call. */
export abstract class ForwardingClient implements KubeClient {
  /** All calls but watches. */
  protected abstract call<T>(make: (client: KubeClient) => Promise<T>): Promise<T>

  abstract watch<T extends KubeObject>(resource: Resource, options: WatchOptions): AsyncIterable<WatchEvent<T>>

  discover() {
    return this.call((client) => client.discover())
  }

  unavailable() {
    return this.call((client) => client.unavailable())
  }

  get<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    options?: ReadOptions,
  ): Promise<T> {
    return this.call((client) => client.get<T>(resource, namespace, name, options))
  }

  raw(path: string) {
    return this.call((client) => client.raw(path))
  }

  list<T extends KubeObject>(resource: Resource, options?: ListOptions): Promise<KubeList<T>> {
    return this.call((client) => client.list<T>(resource, options))
  }

  create<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T> {
    return this.call((client) => client.create(resource, object, options))
  }

  update<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T> {
    return this.call((client) => client.update(resource, object, options))
  }

  patch<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    patch: unknown,
    options: PatchOptions,
  ): Promise<T> {
    return this.call((client) => client.patch<T>(resource, namespace, name, patch, options))
  }

  delete(resource: Resource, namespace: string | undefined, name: string, options?: DeleteOptions) {
    return this.call((client) => client.delete(resource, namespace, name, options))
  }

  deleteCollection(...request: Parameters<KubeClient["deleteCollection"]>) {
    return this.call((client) => client.deleteCollection(...request))
  }
}
