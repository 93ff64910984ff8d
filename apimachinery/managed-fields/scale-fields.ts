// Managers of the number of replicas, converted to the scale subresource and back. Source:
// k8s.io/apimachinery/pkg/util/managedfields/scalehandler.go.

import { difference, has, setOfPaths } from "./field-set.ts"
import { entriesOf, entryOf, type ManagedFieldsEntry, managersOf, type Managers, setFields } from "./managers.ts"
import { fieldElement, type PathElement } from "./path-element.ts"

/** The path of the number in a version of the scaled kind; null: it has no such field; undefined: the version is not served. */
export type ReplicasPath = (apiVersion: string) => readonly string[] | null | undefined

const scaleVersion = "autoscaling/v1"
const replicasOfScale = elements(["spec", "replicas"])
const replicasSet = setOfPaths(replicasOfScale)

function elements(path: readonly string[]): PathElement[] {
  return path.map(fieldElement)
}

/** The managers of the number as entries of the Scale. */
export function scaleEntries(
  parent: readonly ManagedFieldsEntry[] | undefined,
  pathIn: ReplicasPath,
): ManagedFieldsEntry[] | undefined {
  const managers: Managers = new Map()
  for (const [key, entry] of managersOf(parent)) {
    const path = pathIn(entry.apiVersion)
    if (!path || !has(entry.fieldsV1, elements(path))) continue
    managers.set(key, entryOf({ ...entry, apiVersion: scaleVersion }, replicasSet, entry.time))
  }
  return entriesOf(managers)
}

/**
 * The parent's managers after a write through the scale subresource, after which the Scale has the managers `scale`. An Update entry's
 * identity contains its version, which differs between the two; a manager that keeps the number gets a separate entry, as upstream.
 */
export function parentEntries(
  parent: readonly ManagedFieldsEntry[] | undefined,
  scale: readonly ManagedFieldsEntry[] | undefined,
  apiVersion: string,
  pathIn: ReplicasPath,
): ManagedFieldsEntry[] | undefined {
  const before = managersOf(parent)
  const left = managersOf(scale)
  const managers: Managers = new Map()
  for (const [key, entry] of before) {
    const path = pathIn(entry.apiVersion)
    if (path === undefined) continue
    const replicas = path && elements(path)
    if (replicas === null || !has(entry.fieldsV1, replicas) || left.delete(key)) managers.set(key, entry)
    else setFields(managers, key, { ...entry, fieldsV1: difference(entry.fieldsV1, setOfPaths(replicas)) })
  }
  const own = pathIn(apiVersion)
  for (const [key, entry] of left) {
    if (!own || !has(entry.fieldsV1, replicasOfScale)) continue
    managers.set(key, entryOf({ ...entry, apiVersion }, setOfPaths(elements(own)), before.get(key)?.time))
  }
  return entriesOf(managers)
}
