// What the objects of a control plane tell its admission to do: webhook configurations and policies. One view of the whole
// group, since nearly every control plane has nothing in it.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { Log } from "../../client/log.ts"
import type { Store } from "../../storage/types.ts"
import { ObjectView } from "../registry/object-view.ts"

const none: readonly never[] = []

export class AdmissionRegistrations implements AsyncDisposable {
  readonly #view: ObjectView<KubeObject>
  #seen: readonly KubeObject[] = none
  #byKind = new Map<string, readonly KubeObject[]>()

  constructor({ store, log }: { store: Store; log: Log }) {
    this.#view = new ObjectView({ store, log, prefix: "/registry/admissionregistration.k8s.io/" })
  }

  /** Known to be so. */
  get isEmpty(): boolean {
    return this.#view.isEmpty
  }

  /** By name. The same value until something changes, so that what is made of it can be kept with it. */
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
