// The annotation in which kubectl stores the configuration of client-side apply. After a change to server-side apply, fields from that
// configuration cause no conflicts; after a change back, the annotation is up to date. Source:
// k8s.io/apimachinery/pkg/util/managedfields/internal (lastappliedmanager.go, lastappliedupdater.go, lastapplied.go).

import { goJson } from "../go/print.ts"
import type { Json, KubeObject } from "../object.ts"
import { parseExactly } from "../schema/exact-integers.ts"
import { isObject } from "../schema/json-object.ts"
import { compare } from "./compare.ts"
import { checkType, TypeErrors } from "./configuration.ts"
import { difference, type FieldSet, leaf, union } from "./field-set.ts"
import { fieldsOf } from "./fields-of.ts"
import { ListItemError } from "./list-element.ts"
import type { MergeType } from "./merge-type.ts"

/** The only manager that this applies to. */
export const kubectl = "kubectl"
const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"
/** Limit of the total size of an object's annotations. */
const maxAnnotationBytes = 256 * 1024

/** Fields that kubectl applied client-side and that still have the applied values: they do not conflict with updates. */
export function lastApplied(live: KubeObject, apiVersion: string, type: MergeType): FieldSet | undefined {
  const text = live.metadata.annotations?.[lastAppliedAnnotation]
  if (!text) return undefined
  try {
    const applied = parseExactly(text)
    if (!isObject(applied) || applied["apiVersion"] !== apiVersion || applied["kind"] !== live.kind) return undefined
    checkType(applied, type)
    const { added, modified, removed } = compare(applied, live as unknown as Json, type)
    return difference(fieldsOf(applied, type), [added, modified, removed].reduce(union, leaf))
  } catch (error) {
    // Anybody can write the annotation; if it cannot be parsed, no conflict is excused.
    const isFault = [SyntaxError, ListItemError, TypeError, TypeErrors].some((kind) => error instanceof kind)
    if (isFault) return undefined
    throw error
  }
}

/** Updates the annotation with the applied configuration, for kubectl versions that use client-side apply. */
export function keepLastApplied(object: KubeObject, configuration: Pick<Partial<KubeObject>, "metadata">): void {
  const present = object.metadata.annotations
  if (!present?.[lastAppliedAnnotation]) return
  const { [lastAppliedAnnotation]: _, ...annotations } = configuration.metadata?.annotations ?? {}
  const { annotations: given, ...metadata } = configuration.metadata ?? {}
  const applied = { ...configuration, metadata: given ? { ...metadata, annotations } : metadata }
  const next = { ...present, [lastAppliedAnnotation]: `${goJson(applied as unknown as Json)}\n` }
  const bytes = Object.entries(next).reduce((sum, [name, value]) => sum + Buffer.byteLength(name + value), 0)
  if (bytes > maxAnnotationBytes) delete (next as Record<string, string>)[lastAppliedAnnotation]
  object.metadata = { ...object.metadata, annotations: next }
}
