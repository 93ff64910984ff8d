// Bookmarks: objects of their kind with the fields that Go prints for an empty one.

import { type Json, type KubeObject, printGroupVersion } from "../../../../apimachinery/object.ts"
import { writeZeros } from "../../../../apimachinery/schema/decode/decode.ts"
import type { RegistryEvent, ResourceDefinition } from "../../rest.ts"
import { ComputedValue } from "../storage/value.ts"

const initialEventsEnd = { "k8s.io/initial-events-end": "true" }

export function bookmark(
  definition: ResourceDefinition,
  revision: number,
  says: "initial events end" | "revision" = "revision",
): RegistryEvent {
  const annotations = {
    ...converted.get(keyOf(definition))?.annotations,
    ...(says === "initial events end" ? initialEventsEnd : {}),
  }
  const metadata = {
    resourceVersion: String(revision),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  }
  const object: KubeObject = { kind: definition.kind, apiVersion: printGroupVersion(definition), metadata }
  if (definition.customResource === undefined) writeZeros(definition.schema, object as unknown as Json)
  const { spec } = converted.get(keyOf(definition)) ?? {}
  if (spec !== undefined) object["spec"] = { ...spec, ...(object["spec"] as object | undefined) }
  return { type: "BOOKMARK", value: new ComputedValue(object) }
}

const keyOf = ({ group, resource }: ResourceDefinition): string => `${group}/${resource}`

/** Fields that are not pointers in Go are printed even if zero. Source: k8s.io/kubernetes/pkg/apis/apps/v1/conversion.go. */
const scaled = { spec: { replicas: 0 } }

const converted = new Map<string, { spec?: object; annotations?: Record<string, string> }>([
  ["apps/daemonsets", { annotations: { "deprecated.daemonset.template.generation": "0" } }],
  ["apps/deployments", scaled],
  ["apps/replicasets", scaled],
  ["apps/statefulsets", scaled],
])
