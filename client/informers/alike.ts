// Shares what objects of many tenants have in common. Every control plane starts with the same objects, which differ only in uid
// and times and otherwise take some 150 KiB per tenant.

import { equalJson } from "../../apimachinery/equality.ts"
import type { KubeObject, ObjectMeta } from "../../apimachinery/object.ts"
import { bornVersion } from "../tenants.ts"
import { keyOf } from "./handlers.ts"

/** Control planes have few bootstrap objects; names beyond this limit are not shared. */
const maxSamples = 1000

const sharedMetadata = ["name", "namespace", "labels", "annotations"] as const

/** For one resource, whose objects are frozen. */
export class Alike<T extends KubeObject> {
  /** The first bootstrap object of each name. */
  readonly #samples = new Map<string, T>()

  /** Returns an equal object that shares its values with the sample of the same name. */
  share(object: T): T {
    if (object.metadata.resourceVersion !== bornVersion) return object
    const key = keyOf(object)
    const sample = this.#samples.get(key)
    if (sample !== undefined) return withPartsOf(sample, object)
    if (this.#samples.size < maxSamples) this.#samples.set(key, object)
    return object
  }
}

function withPartsOf<T extends KubeObject>(sample: T, object: T): T {
  const metadata: ObjectMeta = { ...object.metadata }
  for (const name of sharedMetadata) shareEqual(metadata, sample.metadata, name)
  const shared: T = { ...object, metadata: Object.freeze(metadata) }
  for (const name of Object.keys(object) as (keyof T)[]) if (name !== "metadata") shareEqual(shared, sample, name)
  return Object.freeze(shared)
}

function shareEqual<T, K extends keyof T>(to: T, from: T, name: K): void {
  if (to[name] !== undefined && equalJson(to[name], from[name])) to[name] = from[name]
}
