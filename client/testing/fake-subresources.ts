// Kind-specific behaviour of fake clusters: scales, tokens, service addresses; and the merging of patches.

import { randomUUID } from "node:crypto"
import { equalJson } from "../../apimachinery/equality.ts"
import { FieldPath, forbiddenField, invalidValue } from "../../apimachinery/field-errors.ts"
import type { Json, KubeObject } from "../../apimachinery/object.ts"
import { applyStrategicMergePatch } from "../../apimachinery/patch/strategic-merge-patch.ts"
import { builtInResources, schemaOf } from "../../apimachinery/schema/facts.ts"
import { invalid, noSuchPath, unsupportedMediaType } from "../../apimachinery/status.ts"
import type { PatchOptions, Resource } from "../rest.ts"

const scalable = new Set(["deployments", "replicasets", "statefulsets", "replicationcontrollers"])

/** For kinds without a scale it fails like a server without that path. */
export function scaleOf({ resource }: Resource, object: KubeObject): KubeObject {
  const { spec, status } = object as {
    spec?: { replicas?: number; selector?: { matchLabels?: object } }
    status?: { replicas?: number }
  }
  if (!scalable.has(resource) && spec?.replicas === undefined) throw noSuchPath()
  const labels = Object.entries(spec?.selector?.matchLabels ?? spec?.selector ?? {})
  return {
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: object.metadata,
    spec: { replicas: spec?.replicas ?? 0 },
    status: { replicas: status?.replicas ?? 0, selector: labels.map(([key, value]) => `${key}=${value}`).join(",") },
  }
}

export function tokenFor(request: KubeObject, now: number): KubeObject {
  const { expirationSeconds } = request["spec"] as { expirationSeconds: number }
  const expirationTimestamp = new Date(now + expirationSeconds * 1000).toISOString()
  return { ...request, status: { token: `token-${randomUUID()}`, expirationTimestamp } }
}

/** A change of the spec raises the generation, except that of the node, which a binding makes. */
export function withNextGeneration(current: KubeObject, next: KubeObject): KubeObject {
  const { generation } = current.metadata
  const desired = ({ spec }: KubeObject): Json => ({ ...(spec as Record<string, Json>), nodeName: null })
  if (generation === undefined || generation !== next.metadata.generation || equalJson(desired(current), desired(next)))
    return next
  return { ...next, metadata: { ...next.metadata, generation: generation + 1 } }
}

/** Returns the service with an address; a requested address must be free. */
export function addressed(service: KubeObject, others: readonly KubeObject[], next: () => string): KubeObject {
  const spec = service["spec"] as { clusterIP?: string; type?: string }
  if (spec.type === "ExternalName") return service
  const taken = others.some((other) => (other["spec"] as { clusterIP?: string }).clusterIP === spec.clusterIP)
  if (spec.clusterIP !== undefined && spec.clusterIP !== "None" && taken) {
    throw invalid({ group: "", kind: "Service" }, service.metadata.name ?? "", [
      invalidValue(
        FieldPath.root("spec", "clusterIPs").index(0),
        spec.clusterIP,
        "failed to allocate IP: provided IP is already allocated",
      ),
    ])
  }
  const clusterIP = spec.clusterIP ?? next()
  return { ...service, spec: { ...spec, clusterIP, clusterIPs: [clusterIP] } }
}

/** Returns the patched object. As in a server the path says of which kind it is: objects of tests may lack it. */
export function patched(
  resource: Resource,
  current: KubeObject,
  patch: unknown,
  type: PatchOptions["type"],
): KubeObject {
  const wanted = type === "strategic" ? strategicallyMerged(resource, current, patch) : merged(current, patch)
  requireMutable(resource, current, wanted as KubeObject)
  return wanted as KubeObject
}

function strategicallyMerged({ group, version, resource }: Resource, current: KubeObject, patch: unknown): Json {
  const builtIn = builtInResources().find(
    (one) => one.resource === resource && one.group === group && one.version === version,
  )
  const schema = builtIn === undefined ? undefined : schemaOf(builtIn)
  // Like for custom resources: the merge keys of their lists are unknown.
  if (schema === undefined) throw unsupportedMediaType(["application/json-patch+json", "application/merge-patch+json"])
  return applyStrategicMergePatch(current as Json, patch as Json, schema)
}

/** Contents of ConfigMaps and Secrets. Source: pkg/apis/core/validation, ValidateSecretUpdate. */
function requireMutable({ group, resource }: Resource, current: KubeObject, wanted: KubeObject): void {
  if (current["immutable"] !== true || !["configmaps", "secrets"].includes(resource)) return
  const changed = ["immutable", "data", "binaryData"].filter((field) => !equalJson(current[field], wanted[field]))
  const faults = changed.map((field) =>
    forbiddenField(FieldPath.root(field), "field is immutable when `immutable` is set"),
  )
  if (faults.length > 0) throw invalid({ group, kind: current.kind ?? "" }, current.metadata.name ?? "", faults)
}

/** Applies a merge patch. */
export function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch
  const isObject = typeof target === "object" && target !== null && !Array.isArray(target)
  const result: Record<string, unknown> = isObject ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue
    if (value === null) delete result[key]
    else result[key] = merged(result[key], value)
  }
  return result
}
