// The webhook configurations and policies of a control plane. There is one view of the whole group, since nearly every control
// plane has no such objects.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { Log } from "../../client/log.ts"
import type { Store } from "../../storage/types.ts"
import { groupPrefixOf } from "../registry/generic/storage/keys.ts"
import { ObjectView } from "../registry/generic/storage/object-view.ts"

const none: readonly never[] = []

export class AdmissionRegistrations implements AsyncDisposable {
  readonly #view: ObjectView<KubeObject>
  #seen: readonly KubeObject[] = none
  #byKind = new Map<string, readonly KubeObject[]>()

  constructor({ store, log }: { store: Store; log: Log }) {
    this.#view = new ObjectView({ store, log, prefix: groupPrefixOf("admissionregistration.k8s.io") })
  }

  /** Known to be empty. */
  get isEmpty(): boolean {
    return this.#view.isEmpty
  }

  /** Ordered by name. Returns the same value until something changes, so that derived data can be cached with it. */
  async ofKind<T extends KubeObject>(kind: string): Promise<readonly T[]> {
    const all = await this.#view.current()
    if (all.length === 0) return none
    if (all !== this.#seen) {
      this.#seen = all
      this.#byKind = new Map()
    }
    let found = this.#byKind.get(kind)
    if (found === undefined) {
      found = all.filter((object) => object.kind === kind)
      this.#byKind.set(kind, found)
    }
    return found as readonly T[]
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#view[Symbol.asyncDispose]()
  }
}
