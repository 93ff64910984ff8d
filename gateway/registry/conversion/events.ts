// Converts events: those of events.k8s.io/v1 are events of the core group with different field names. Stored as core events.
// Source: k8s.io/kubernetes/pkg/apis/events/v1/conversion.go.

import { copyJson } from "../../../apimachinery/copy.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import type { Conversion } from "../rest.ts"
import { normalized } from "./normalize.ts"

/** Core name → name in events.k8s.io. */
const names: readonly (readonly [string, string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
]

const toEvents = new Map(names)
const toCore = new Map(names.map(([core, events]) => [events, core]))

function renamed(object: KubeObject, apiVersion: string, fields: ReadonlyMap<string, string>): KubeObject {
  const { kind, metadata, ...rest } = copyJson(object)
  const result: KubeObject = { kind, apiVersion, metadata: { ...metadata } }
  for (const [name, value] of Object.entries(rest)) if (name !== "apiVersion") result[fields.get(name) ?? name] = value
  return result
}

export const eventsV1: Conversion = {
  fromStored: (objects) => objects.map((object) => normalized(renamed(object, "events.k8s.io/v1", toEvents))),
  toStored: (object) => normalized(renamed(object, "v1", toCore)),
}
