// A client of a control plane that may be asleep: each call wakes it and keeps it awake until the response; afterwards it stays
// awake as after any use, unless the call does not count as use.

import type { KubeObject } from "../../apimachinery/object.ts"
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
} from "../../client/rest.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"

type Opened = Pick<ControlPlane, "client" | "presence">

/** `open` throws NotFound if the tenant does not exist. */
export function createLazyClient(open: () => Promise<Opened>, isUse = true): KubeClient {
  return new LazyClient(open, isUse)
}

/** A class, because controllers need one for each call. */
class LazyClient implements KubeClient {
  readonly #open: () => Promise<Opened>
  readonly #isUse: boolean

  constructor(open: () => Promise<Opened>, isUse: boolean) {
    this.#open = open
    this.#isUse = isUse
  }

  async #call<T>(make: (client: KubeClient) => Promise<T>): Promise<T> {
    const controlPlane = await this.#open()
    const leave = controlPlane.presence.enter(this.#isUse)
    try {
      return await make(controlPlane.client)
    } finally {
      leave()
    }
  }

  discover() {
    return this.#call((client) => client.discover())
  }

  unavailable() {
    return this.#call((client) => client.unavailable())
  }

  get<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    options?: ReadOptions,
  ): Promise<T> {
    return this.#call((client) => client.get<T>(resource, namespace, name, options))
  }

  raw(path: string) {
    return this.#call((client) => client.raw(path))
  }

  list<T extends KubeObject>(resource: Resource, options?: ListOptions): Promise<KubeList<T>> {
    return this.#call((client) => client.list<T>(resource, options))
  }

  create<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T> {
    return this.#call((client) => client.create(resource, object, options))
  }

  update<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T> {
    return this.#call((client) => client.update(resource, object, options))
  }

  patch<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    patch: unknown,
    options: PatchOptions,
  ): Promise<T> {
    return this.#call((client) => client.patch<T>(resource, namespace, name, patch, options))
  }

  delete(resource: Resource, namespace: string | undefined, name: string, options?: DeleteOptions) {
    return this.#call((client) => client.delete(resource, namespace, name, options))
  }

  deleteCollection(...request: Parameters<KubeClient["deleteCollection"]>) {
    return this.#call((client) => client.deleteCollection(...request))
  }

  /** It does not keep the tenant awake, and continues when that is woken again. */
  async *watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    yield* (await this.#open()).client.watch<T>(resource, options)
  }
}
