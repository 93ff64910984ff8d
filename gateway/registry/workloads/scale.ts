// The scale subresource: the number of replicas, and in responses also the current number and the selector. Source:
// k8s.io/kubernetes/pkg/registry/apps/*/storage (ScaleREST).

import { FieldPath } from "../../../apimachinery/field-errors.ts"
import { goQuote } from "../../../apimachinery/go/quote.ts"
import { validateDNS1123Subdomain } from "../../../apimachinery/names.ts"
import { validateObjectMeta } from "../../../apimachinery/object-meta.ts"
import { printSelector, selectorFromLabelSelector } from "../../../apimachinery/labels.ts"
import { parentEntries, type ReplicasPath, scaleEntries } from "../../../apimachinery/managed-fields/scale-fields.ts"
import { type KubeObject, type ObjectMeta, parseGroupVersion, printGroupVersion } from "../../../apimachinery/object.ts"
import { badRequest, internalError, invalid } from "../../../apimachinery/status.ts"
import type { RequestContext } from "../../request/context.ts"
import { uidConflict } from "../generic/checks.ts"
import { scaleColumns } from "../columns/workloads.ts"
import { managersIn, recordWrite, setEntries } from "../generic/managed-fields/field-management.ts"
import { managedScale } from "../generic/managed-fields/managed-kind.ts"
import { onBehalf } from "../generic/internal-write.ts"
import type { AdmitFunctions, Registry, ResourceDefinition, WriteOptions } from "../rest.ts"
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
  /** The number has no default: its path, and whether an object has it. */
  required?: { path: string; isIn(object: KubeObject): boolean }
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
  const currentReplicas = scalable.currentReplicas(object)
  const selector = scalable.selector(object)
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata,
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: currentReplicas, ...(selector === "" ? {} : { selector }) },
  }
}

export function scaleSubresource(scalableOf: (registry: Registry) => Scalable): SubresourceHandler {
  return {
    columns: scaleColumns,
    async get(ctx, registry, namespace, name, options) {
      const object = (await registry.get(ctx, namespace, name, options)).object()
      const scalable = scalableOf(registry)
      const scale = scaleOf(object, scalable)
      const { required } = scalable
      if (required?.isIn(object) === false)
        throw internalError(`the spec replicas field ${goQuote(required.path)} does not exist`)
      return scale
    },
    async update(ctx, registry, namespace, name, change, options, admit) {
      const scalable = scalableOf(registry)
      const { definition } = registry
      const target: Target = { scalable, definition, pathIn: replicasPaths(ctx, definition), options, admit }
      // The strategy must see an update of the object itself, not of a subresource.
      const result = await registry.update(
        onBehalf(ctx, { ...definition, namespace, name }),
        namespace,
        name,
        (current) => rescale(target, current as KubeObject, change),
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

interface Target {
  scalable: Scalable
  definition: ResourceDefinition
  /** Of the number of replicas. */
  pathIn: ReplicasPath
  options: WriteOptions
  admit: AdmitFunctions
}

/** In the scale that a patch changes: the object has no number. Upstream's. */
const notSet = -(2 ** 31)

/** Changes the object's scale, and the object accordingly. */
async function rescale(
  { scalable, definition, pathIn, options, admit }: Target,
  object: KubeObject,
  change: (current: KubeObject) => KubeObject | Promise<KubeObject>,
): Promise<KubeObject> {
  const before: Scale = scaleOf(object, scalable)
  const { required } = scalable
  if (required?.isIn(object) === false) before.spec = { replicas: notSet }
  setEntries(before, scaleEntries(managersIn(object), pathIn))
  const wanted = (await change(structuredClone(before))) as Scale
  if (options.managersKnown !== true) {
    // As upstream, a Scale without apiVersion cannot be decoded, so no manager of the number is recorded.
    if (!wanted.apiVersion) setEntries(wanted, undefined)
    else await recordWrite(managedScale(), wanted, before, options)
  }
  wanted.apiVersion ||= "autoscaling/v1"
  // The uid of a whole scale is a precondition of the write.
  if (options.isPatch !== true) checkUid(wanted, object, definition)
  checkName(wanted, object)
  await admit.mutate(wanted, before)
  if (required !== undefined && wanted.spec?.replicas === notSet)
    throw badRequest(`the spec replicas field ${goQuote(required.path)} cannot be empty`)
  if (scalable.ownRules !== true) check(wanted, object, definition)
  const { resourceVersion } = wanted.metadata
  if (resourceVersion) object.metadata.resourceVersion = resourceVersion // the registry compares it
  scalable.setReplicas(object, wanted.spec?.replicas ?? 0)
  setEntries(object, parentEntries(managersIn(object), managersIn(wanted), printGroupVersion(definition), pathIn))
  return object
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

function checkUid({ metadata: { uid } }: Scale, { metadata }: KubeObject, definition: ResourceDefinition): void {
  const { name = "", uid: own = "" } = metadata
  if (uid && uid !== own) throw uidConflict(definition, name, uid, own)
}

function check(wanted: Scale, object: KubeObject, definition: ResourceDefinition): void {
  const errors = [
    ...validateObjectMeta(wanted.metadata, { namespaced: true, nameRule: validateDNS1123Subdomain }),
    ...nonNegative(FieldPath.root("spec", "replicas"), wanted.spec?.replicas),
  ]
  // Under the name of the request, whatever admission has given the scale.
  if (errors.length > 0) throw invalid({ group: "autoscaling", kind: "Scale" }, object.metadata.name ?? "", errors)
  checkUid(wanted, object, { ...definition, resource: `${definition.resource}/scale` })
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
    selector: (object) => selector(object),
    setReplicas(object, replicas) {
      const of = object as Replicated
      of.spec = { ...of.spec, replicas }
    },
  }
}

const bySelector = replicated(({ spec }) =>
  spec?.selector === undefined ? "" : printSelector(selectorFromLabelSelector(spec.selector)),
)
const byLabels = replicated(({ spec }) =>
  printSelector(selectorFromLabelSelector({ matchLabels: (spec?.selector ?? {}) as Record<string, string> })),
)

export const workloadScale = scaleSubresource(() => bySelector)
export const replicationControllerScale = scaleSubresource(() => byLabels)
