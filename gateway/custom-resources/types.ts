// The wire format of CustomResourceDefinitions. It is written out here because the client's model renames JavaScript keywords.

import type { Json, KubeObject } from "../../apimachinery/object.ts"
import type { WebhookClientConfig } from "../backends/webhook-client.ts"

export interface CustomResourceNames {
  plural?: string
  singular?: string
  kind?: string
  listKind?: string
  shortNames?: string[]
  categories?: string[]
}

export interface PrinterColumn {
  name?: string
  type?: string
  format?: string
  description?: string
  priority?: number
  jsonPath?: string
}

export interface CustomResourceVersion {
  name: string
  served?: boolean
  storage?: boolean
  deprecated?: boolean
  deprecationWarning?: string
  schema?: { openAPIV3Schema?: Json }
  subresources?: {
    status?: object
    scale?: { specReplicasPath?: string; statusReplicasPath?: string; labelSelectorPath?: string }
  }
  additionalPrinterColumns?: PrinterColumn[]
  selectableFields?: { jsonPath?: string }[]
}

export interface CustomResourceConversion {
  strategy?: string
  webhook?: { clientConfig?: WebhookClientConfig; conversionReviewVersions?: string[] }
}

export interface DefinitionCondition {
  type: string
  status: string
  reason?: string
  message?: string
  lastTransitionTime?: string
}

export interface Definition extends KubeObject {
  spec?: {
    group?: string
    scope?: string
    names?: CustomResourceNames
    versions?: CustomResourceVersion[]
    conversion?: CustomResourceConversion
    preserveUnknownFields?: boolean
  }
  status?: {
    acceptedNames?: CustomResourceNames
    conditions?: DefinitionCondition[] | null
    storedVersions?: string[]
  }
}

export const definitionsResource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  resource: "customresourcedefinitions",
} as const

export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io"

export function conditionOf(definition: Definition, type: string): DefinitionCondition | undefined {
  return definition.status?.conditions?.find((condition) => condition.type === type)
}

export function isEstablished(definition: Definition): boolean {
  return conditionOf(definition, "Established")?.status === "True"
}

export function hasItsNames(definition: Definition): boolean {
  return conditionOf(definition, "NamesAccepted")?.status === "True"
}

/** Its objects are being deleted, and no more can be created. */
export function isTerminating(definition: Definition): boolean {
  return conditionOf(definition, "Terminating")?.status === "True"
}

/** It is being deleted, and its objects have not been deleted yet. */
export function awaitsCleanup(definition: Definition): boolean {
  return (
    definition.metadata.deletionTimestamp !== undefined &&
    definition.metadata.finalizers?.includes(cleanupFinalizer) === true
  )
}

/** Adds or updates a condition; its transition time changes with its status. */
export function withCondition(
  conditions: readonly DefinitionCondition[] | null | undefined,
  condition: DefinitionCondition,
  now: string,
): DefinitionCondition[] {
  const list = [...(conditions ?? [])]
  const index = list.findIndex(({ type }) => type === condition.type)
  const before = list[index]
  const same = before?.status === condition.status && (before.lastTransitionTime ?? null) !== null
  // What clients add to it stays: its observedGeneration.
  const next = {
    ...before,
    ...condition,
    lastTransitionTime: same ? before.lastTransitionTime : now,
  } as DefinitionCondition
  if (index < 0) list.push(next)
  else list[index] = next
  return list
}
