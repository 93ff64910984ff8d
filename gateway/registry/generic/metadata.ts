// How the server modifies metadata of all kinds. Source: k8s.io/apiserver/pkg/registry/rest/{create,update,meta}.go.

import { randomUUID } from "node:crypto"
import { uintFault } from "../../../apimachinery/go/integers.ts"
import { generateName } from "../../../apimachinery/names.ts"
import { type KubeObject, timestamp } from "../../../apimachinery/object.ts"
import { isEmptyObject } from "../../../apimachinery/schema/json-object.ts"
import { badRequest, unexplained } from "../../../apimachinery/status.ts"
import type { ResourceDefinition } from "../rest.ts"

/** Before admission: a client cannot set these fields of a new object. */
export function wipeSystemFields({ metadata }: KubeObject): void {
  delete metadata.uid
  delete metadata.creationTimestamp
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
}

/** After mutating admission: assigns the identity of a new object, except for a generated name. */
export function fillSystemFields(definition: ResourceDefinition, { metadata }: KubeObject): void {
  metadata.uid = randomUUID()
  metadata.creationTimestamp = timestamp()
  // Kinds without a generation keep the client's value.
  if (hasGeneration(definition) && definition.strategy.generation !== "changes") metadata.generation = 1
}

/**
 * Called when the object is stored, after all other validation, and therefore not in a dry run. 0 and invalid numbers are ignored.
 */
export function refuseRevision({ metadata }: KubeObject): void {
  const { resourceVersion = "" } = metadata
  if (uintFault(resourceVersion) === undefined && BigInt(resourceVersion) !== 0n)
    throw unexplained("resourceVersion should not be set on objects to be created")
  delete metadata.resourceVersion
}

export function nameFor({ strategy }: ResourceDefinition, prefix: string): string {
  return strategy.generateName === undefined ? generateName(prefix) : strategy.generateName(prefix)
}

/** `namespace`: of the request. Nothing is in a namespace without one. Source: EnsureObjectNamespaceMatchesRequestNamespace. */
export function agreeOnNamespace({ metadata }: KubeObject, namespace: string): void {
  if (namespace === "") delete metadata.namespace
  else if (!metadata.namespace) metadata.namespace = namespace
  else if (metadata.namespace !== namespace)
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request")
}

/** The same by the scope of the kind: for objects of the cluster whatever admission has given them. */
export function placeInNamespace({ namespaced }: ResourceDefinition, namespace: string, object: KubeObject): void {
  agreeOnNamespace(object, namespaced ? namespace : "")
}

/** Updates can only change the client's metadata: labels, annotations, owners, finalizers. */
export function keepSystemFields(object: KubeObject, current: KubeObject): void {
  const { metadata } = object
  const before = current.metadata
  metadata.uid ||= before.uid ?? ""
  metadata.creationTimestamp = before.creationTimestamp ?? metadata.creationTimestamp ?? null
  if (before.deletionTimestamp !== undefined) metadata.deletionTimestamp = before.deletionTimestamp
  if (before.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds ??= before.deletionGracePeriodSeconds
  }
}

/** Removes empty lists and maps, as in Go's output. */
export function dropEmptyMetadata({ metadata }: KubeObject): void {
  if (metadata.ownerReferences?.length === 0) delete metadata.ownerReferences
  if (metadata.finalizers?.length === 0) delete metadata.finalizers
  if (metadata.managedFields?.length === 0) delete metadata.managedFields
  for (const field of ["labels", "annotations"] as const) {
    const value = metadata[field]
    if (value !== undefined && isEmptyObject(value)) delete metadata[field]
  }
}

/** Kinds with a spec count its changes, unless their strategy specifies otherwise. */
export function hasGeneration({ strategy, schema, customResource }: ResourceDefinition): boolean {
  const { generation = customResource !== undefined || schema.fields?.["spec"] !== undefined } = strategy
  return generation !== false
}
