// The managers of the fields of initial objects: the components that create them in a new cluster, of which some apply a part.

import { fieldsOf } from "../../apimachinery/managed-fields/fields-of.ts"
import {
  entriesOf,
  entryOf,
  type ManagedFieldsEntry,
  managerKey,
  type Managers,
} from "../../apimachinery/managed-fields/managers.ts"
import { mergeTypeOf } from "../../apimachinery/managed-fields/merge-type.ts"
import { recordUpdate } from "../../apimachinery/managed-fields/ownership.ts"
import { type Json, type KubeObject, parseGroupVersion, printGroupVersion } from "../../apimachinery/object.ts"
import { rootCAConfigMap } from "../../apimachinery/tenancy.ts"
import { serverManager } from "../registry/generic/internal-write.ts"
import { blankOf } from "../registry/generic/managed-fields/field-management.ts"
import { resetFields } from "../registry/generic/managed-fields/reset-fields.ts"
import type { ResourceDefinition } from "../registry/rest.ts"
import { appliedStatus, serviceCIDRManager } from "./default-service-cidr.ts"

interface Part {
  manager: string
  subresource: string
  fields: Readonly<Record<string, unknown>>
}

/** undefined if nobody manages a field of it. `time`: that of the entries. */
export function initialManagers(
  object: KubeObject,
  definition: ResourceDefinition,
  time: string,
): ManagedFieldsEntry[] | undefined {
  const applied = appliedPart(object)
  const managers = created(definition, createdPart(object, applied), time)
  if (applied !== undefined) {
    const { manager, subresource, fields } = applied
    const set = fieldsOf(fields as Json, mergeTypeOf(definition.schema))
    const writer = { manager, operation: "Apply", apiVersion: printGroupVersion(definition), subresource } as const
    managers.set(managerKey(writer), entryOf(writer, set, time))
  }
  return entriesOf(managers)
}

function created(definition: ResourceDefinition, { manager, subresource, fields }: Part, now: string): Managers {
  const managers: Managers = new Map()
  const change = {
    before: blankOf(definition) as unknown as Json,
    after: fields as Json,
    type: mergeTypeOf(definition.schema),
    areStructs: true,
  }
  const writer = { manager, apiVersion: printGroupVersion(definition), subresource, now }
  recordUpdate(
    managers,
    writer,
    () => change,
    () => resetFields(definition, subresource),
  )
  return managers
}

function createdPart(object: KubeObject, applied: Part | undefined): Part {
  const fields: Record<string, unknown> = { ...object }
  for (const field in applied?.fields) delete fields[field]
  // The finalizer is of the server's strategy.
  if (object.kind === "Namespace") delete fields["spec"]
  return { manager: creatorOf(object), subresource: "", fields }
}

function creatorOf({ apiVersion, metadata }: KubeObject): string {
  const { group } = parseGroupVersion(apiVersion)
  if (group === "flowcontrol.apiserver.k8s.io") return "api-priority-and-fairness-config-producer-v1"
  return metadata.name === rootCAConfigMap ? "kube-controller-manager" : serverManager
}

function appliedPart(object: KubeObject): Part | undefined {
  const { kind, rules, status, aggregationRule } = object as KubeObject & Record<string, unknown>
  if (kind === "ClusterRole" && aggregationRule !== undefined)
    return { manager: "clusterrole-aggregation-controller", subresource: "", fields: { rules } }
  const inStatus = { subresource: "status", fields: { status } }
  if (status === undefined) return undefined
  if (kind === "FlowSchema") return { manager: "api-priority-and-fairness-config-consumer-v1", ...inStatus }
  if (kind === "ServiceCIDR")
    return { manager: serviceCIDRManager, subresource: "status", fields: { status: appliedStatus("") } }
  return undefined
}
