// Pieces of schemas of custom resources whose lists and maps several clients write.

import type { JsonObject } from "../generate/objects.ts"

export const text = { type: "string" }
export const number = { type: "integer" }
export const atomic = { "x-kubernetes-list-type": "atomic" }
export const set = { "x-kubernetes-list-type": "set" }
export const keyed = (...keys: string[]): JsonObject => ({
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
})
export const free = { type: "object", "x-kubernetes-preserve-unknown-fields": true }
