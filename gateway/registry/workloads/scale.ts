// The scale subresource: the number of replicas, and in responses also the current number and the selector. Source:
// k8s.io/kubernetes/pkg/registry/apps/*/storage (ScaleREST).

import { FieldPath } from "../../../apimachinery/field-errors.ts"
import { printSelector, selectorFromLabelSelector } from "../../../apimachinery/labels.ts"
import { parentEntries, type ReplicasPath, scaleEntries } from "../../../apimachinery/managed-fields/scale-fields.ts"
import { type KubeObject, type ObjectMeta, parseGroupVersion, printGroupVersion } from "../../../apimachinery/object.ts"
import { badRequest, conflict, invalid, objectModified } from "../../../apimachinery/status.ts"
import type { RequestContext } from "../../request/context.ts"
import { scaleColumns } from "../columns/workloads.ts"
import { managersIn, recordWrite, setEntries } from "../generic/managed-fields/field-management.ts"
import { managedScale } from "../generic/managed-fields/managed-kind.ts"
import { onBehalf } from "../generic/internal-write.ts"
import type { Registry, ResourceDefinition } from "../rest.ts"
import type { SubresourceHandler } from "../strategy.ts"
import type { LabelSelector } from "../validation/selectors.ts"
import { nonNegative } from "../validation/values.ts"

/** Gets and sets the number of replicas of a kind. */
export interface Scalable {
  replicas(object: KubeObject): number
  currentReplicas(object: KubeObject): number
  /** As text; "" if there is none. */
  selector(object: KubeObject): string
  setReplicas(object: KubeObject, replicas: number): void
  /** Throws if the object lacks a required number, for which there is no default. */
  checkPresent?(object: KubeObject): void
  /** The number is validated by the object's own validation. */
  ownRules?: boolean
}

interface Scale extends KubeObject {
  spec?: { replicas?: number }
}

function scaleOf(object: KubeObject, scalable: Scalable): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const metadata: ObjectMeta = { name: name ?? "" }
  if (namespace !== undefined) metadata.namespace = namespace
  if (uid !== undefined) metadata.uid = uid
  if (resourceVersion !== undefined) metadata.resourceVersion = resourceVersion
  if (creationTimestamp !== undefined) metadata.creationTimestamp = creationTimestamp
  const replicas = scalable.replicas(object)
  const selector = scalable.selector(object)
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata,
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: scalable.currentReplicas(object), ...(selector === "" ? {} : { selector }) },
  }
}

export function scaleSubresource(scalableOf: (registry: Registry) => Scalable): SubresourceHandler {
  return {
    columns: scaleColumns,
    async get(ctx, registry, namespace, name, options) {
      const object = (await registry.get(ctx, namespace, name, options)).object()
      const scalable = scalableOf(registry)
      scalable.checkPresent?.(object)
      return scaleOf(object, scalable)
    },
    async update(ctx, registry, namespace, name, change, options, admit) {
      const scalable = scalableOf(registry)
      const { definition } = registry
      // The strategy must see an update of the object itself, not of a subresource.
      const pathIn = replicasPaths(ctx, definition)
      const inner = onBehalf(ctx, { ...definition, namespace, name })
      const result = await registry.update(
        inner,
        namespace,
        name,
        async (current) => {
          const object = current as KubeObject
          const before = scaleOf(object, scalable)
          setEntries(before, scaleEntries(managersIn(object), pathIn))
          const wanted = (await change(structuredClone(before))) as Scale
          if (options.managersKnown !== true) {
            // As upstream, a Scale without apiVersion cannot be decoded, so no manager of the number is recorded.
            if (!wanted.apiVersion) setEntries(wanted, undefined)
            else await recordWrite(managedScale(), wanted, before, options)
          }
          wanted.apiVersion ||= "autoscaling/v1"
          checkName(wanted, object)
          await admit.mutate(wanted, before)
          check(wanted, object, definition, scalable.ownRules)
          scalable.setReplicas(object, wanted.spec?.replicas ?? 0)
          const entries = parentEntries(managersIn(object), managersIn(wanted), printGroupVersion(definition), pathIn)
          setEntries(object, entries)
          return object
        },
        { ...options, subresource: "scale", managersKnown: true },
        {
          mutate: async () => undefined,
          // Validating admission sees the scales of the whole objects, without managers.
          validate: (object, old) => admit.validate(object && scaleOf(object, scalable), old && scaleOf(old, scalable)),
        },
      )
      return scaleOf(result.value.object(), scalable)
    },
  }
}

/** The field path of the number in each version of the kind. */
function replicasPaths(ctx: RequestContext, { resource, storagePrefix }: ResourceDefinition): ReplicasPath {
  return (apiVersion) => {
    const found = ctx.controlPlane.resources.registry({ ...parseGroupVersion(apiVersion), resource })?.definition
    if (found?.storagePrefix !== storagePrefix) return undefined
    if (found.customResource === undefined) return ["spec", "replicas"]
    return found.customResource.scale?.specReplicasPath.split(".").filter((name) => name !== "") ?? null
  }
}

function checkName({ metadata: { name = "" } }: Scale, object: KubeObject): void {
  if (name === object.metadata.name) return
  throw badRequest(`the name of the object (${name}) does not match the name on the URL (${object.metadata.name})`)
}

function check(
  wanted: Scale,
  object: KubeObject,
  resource: { group: string; resource: string },
  ownRules = false,
): void {
  const { name = "", resourceVersion, uid } = wanted.metadata
  if (resourceVersion && object.metadata.resourceVersion && resourceVersion !== object.metadata.resourceVersion) {
    throw conflict(resource, name, objectModified)
  }
  if (uid && uid !== object.metadata.uid) {
    throw conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${object.metadata.uid}`,
    )
  }
  if (ownRules) return
  const errors = nonNegative(FieldPath.root("spec", "replicas"), wanted.spec?.replicas)
  if (errors.length > 0) throw invalid({ group: "autoscaling", kind: "Scale" }, name, errors)
}

interface Replicated extends KubeObject {
  spec?: { replicas?: number; selector?: LabelSelector | Record<string, string> }
  status?: { replicas?: number }
}

/** For kinds with spec.replicas, status.replicas and spec.selector. */
function replicated(selector: (object: Replicated) => string): Scalable {
  return {
    replicas: (object) => (object as Replicated).spec?.replicas ?? 0,
    currentReplicas: (object) => (object as Replicated).status?.replicas ?? 0,
    selector: (object) => selector(object as Replicated),
    setReplicas(object, replicas) {
      const of = object as Replicated
      of.spec = { ...of.spec, replicas }
    },
  }
}

const bySelector = replicated(({ spec }) =>
  spec?.selector === undefined ? "" : printSelector(selectorFromLabelSelector(spec.selector as LabelSelector)),
)
const byLabels = replicated(({ spec }) =>
  printSelector(selectorFromLabelSelector({ matchLabels: (spec?.selector ?? {}) as Record<string, string> })),
)

export const workloadScale = scaleSubresource(() => bySelector)
export const replicationControllerScale = scaleSubresource(() => byLabels)
