// What many tenants have alike is kept once. Every control plane is born with the same objects, which differ in who and when
// (uid, times) and are some 150 KiB for each tenant otherwise.

import { equalJson } from "../apimachinery/equality.ts"
import type { KubeObject, ObjectMeta } from "../apimachinery/object.ts"

/** Of what was there before anything was written: no write has it. */
const bornRevision = "1"

/** Kinds of a control plane's first objects are few; names beyond are kept as they come. */
const maxSamples = 1000

const sharedMetadata = ["name", "namespace", "labels", "annotations"] as const

/** Of one resource, whose objects are frozen. */
export class Alike<T extends KubeObject> {
  /** The first one of each name that every control plane is born with. */
  readonly #samples = new Map<string, T>()

  /** The same object; what of it another one has, too, is that one's. */
  share(object: T): T {
    if (object.metadata.resourceVersion !== bornRevision) return object
    const key = `${object.metadata.namespace ?? ""}/${object.metadata.name ?? ""}`
    const sample = this.#samples.get(key)
    if (sample !== undefined) return withPartsOf(sample, object)
    if (this.#samples.size < maxSamples) this.#samples.set(key, object)
    return object
  }
}

function withPartsOf<T extends KubeObject>(sample: T, object: T): T {
  const metadata: ObjectMeta = { ...object.metadata }
  for (const name of sharedMetadata) takeAlike(metadata, sample.metadata, name)
  const shared: T = { ...object, metadata: Object.freeze(metadata) }
  for (const name of Object.keys(object) as (keyof T)[]) if (name !== "metadata") takeAlike(shared, sample, name)
  return Object.freeze(shared)
}

function takeAlike<T, K extends keyof T>(to: T, from: T, name: K): void {
  if (to[name] !== undefined && equalJson(to[name], from[name])) to[name] = from[name]
}
