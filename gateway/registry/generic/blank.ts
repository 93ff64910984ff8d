// An object of a kind without anything in it, with the fields that Go prints for an empty one.

import { type Json, type KubeObject, type ObjectMeta, printGroupVersion } from "../../../apimachinery/object.ts"
import { writeZeros } from "../../../apimachinery/schema/decode/decode.ts"
import type { ResourceDefinition } from "../rest.ts"

export function blankObject(definition: ResourceDefinition, given: ObjectMeta = {}): KubeObject {
  const { group, resource, kind, schema, customResource } = definition
  const own = customResource === undefined ? converted.get(`${group}/${resource}`) : undefined
  const annotations = { ...own?.annotations, ...given.annotations }
  const metadata = { ...given, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) }
  const object: KubeObject = { kind, apiVersion: printGroupVersion(definition), metadata }
  if (customResource === undefined) writeZeros(schema, object as unknown as Json)
  if (own?.spec !== undefined) object["spec"] = { ...own.spec, ...(object["spec"] as object | undefined) }
  return object
}

/** Fields that are not pointers in Go are printed even if zero. Source: k8s.io/kubernetes/pkg/apis/apps/v1/conversion.go. */
const scaled = { spec: { replicas: 0 } }

const converted = new Map<string, { spec?: object; annotations?: Record<string, string> }>([
  ["apps/daemonsets", { annotations: { "deprecated.daemonset.template.generation": "0" } }],
  ["apps/deployments", scaled],
  ["apps/replicasets", scaled],
  ["apps/statefulsets", scaled],
])
