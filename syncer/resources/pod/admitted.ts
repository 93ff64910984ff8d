// What super's admission makes of the images, amounts and tolerations that a pod asks for, such as images of a mirror, or requests for nodes
// that are overcommitted: it stays as long as the tenant asks for the same. It is recorded on the copy, so that what somebody else changes
// there can be told from it, and undone. Pure.

import { equalIgnoringNulls } from "../../../apimachinery/equality.ts"
import type { Container, Json, Pod, PodSpec } from "../../../apimachinery/object.ts"
import { isEmptyObject, isObject, ownValue } from "../../../apimachinery/schema/json-object.ts"
import { admittedAnnotation } from "../../../apimachinery/tenancy.ts"
import { missingFrom } from "../../conversion/equality.ts"
import type { Patch } from "../resource-sync.ts"
import { resizable, sameAmount } from "./amounts.ts"

type Toleration = NonNullable<PodSpec["tolerations"]>[number]
type Resources = NonNullable<Container["resources"]>

/** By container and field. Given null: nothing, and of tolerations those that were left out. */
type Admitted = Record<string, readonly [asked: string, given: string | null]>

/** A longer record is none: a server accepts 256 KiB of annotations. */
const maxRecordCharacters = 64 * 1024

const imageOf = (container: string): string => `${container} image`
const amountOf = (container: string, list: string, name: string): string => `${container} ${list}.${name}`
const isImage = (field: string): boolean => field.endsWith(" image")
/** Of the pod itself. */
const tolerationsField = " tolerations"

export interface Admission {
  /** Whether super's admission has made this of what is asked for. */
  hasGiven(container: string, image: string, given: string | undefined): boolean
  hasGivenAmount(container: string, list: string, name: string, asked: string, given: string | undefined): boolean
  /** Without those that it has left out. Nobody else can take any away. */
  allowed(tolerations: Toleration[]): Toleration[]
}

/** As it is recorded on the copy, or as it is seen there. */
export function admissionOf(pod: Pod, superPod: Pod): Admission {
  let record: Admitted | undefined
  const knownOf = (field: string): unknown => {
    record ??= recordOf(superPod) ?? parsed<Admitted>(unrecorded(pod, superPod)) ?? {}
    return ownValue(record, field)
  }
  const has = (field: string, asked: string, given: string | undefined): boolean => {
    const known = knownOf(field)
    return Array.isArray(known) && known[0] === asked && known[1] === (given ?? null)
  }
  return {
    hasGiven: (container, image, given) => has(imageOf(container), image, given),
    hasGivenAmount: (container, list, name, asked, given) => has(amountOf(container, list, name), asked, given),
    allowed: (tolerations) =>
      tolerations.length === 0 ? [] : missingFrom(tolerations, leftOut(knownOf(tolerationsField))),
  }
}

/** The change of the record after super has answered `made` to a write of everything, or of this step. */
export function recordAdmission(pod: Pod, made: Pod, step?: Patch): Patch | undefined {
  const text = printed(pod, made, writtenBy(step))
  if (text === made.metadata.annotations?.[admittedAnnotation]) return undefined
  return { patch: { metadata: { annotations: { [admittedAnnotation]: text ?? null } } } }
}

/** The record that a new copy lacks, because the write of it was lost, or the answer to the creation. */
export function lostRecord(pod: Pod, superPod: Pod): Record<string, string> {
  const text = recordOf(superPod) === undefined ? unrecorded(pod, superPod) : undefined
  return text === undefined ? {} : { [admittedAnnotation]: text }
}

/**
 * Each change of a spec raises the generation, except that of the node: as long as neither has changed, all differences are of super's
 * admission. Servers before 1.33 count none for pods, where they cannot be told from what somebody else has changed.
 */
function unrecorded(pod: Pod, superPod: Pod): string | undefined {
  const isAsCreated = pod.metadata.generation === 1 && superPod.metadata.generation === 1
  return isAsCreated && !isAsAsked(pod.spec, superPod.spec) ? printed(pod, superPod, () => true) : undefined
}

/** Quickly: this is asked of each copy without a record, and most have none. */
function isAsAsked(asked: Partial<PodSpec> = {}, given: Partial<PodSpec> = {}): boolean {
  const areSame = (some: readonly Container[] = [], others: readonly Container[] = []): boolean =>
    some.every(({ name, image, resources }, index) => {
      const other = others[index]
      return other?.name === name && other.image === image && equalIgnoringNulls(resources, other.resources)
    })
  return (
    areSame(asked.containers, given.containers) &&
    areSame(asked.initContainers, given.initContainers) &&
    equalIgnoringNulls(asked.resources, given.resources) &&
    missingFrom(asked.tolerations ?? [], given.tolerations ?? []).length === 0
  )
}

/** `isWritten`: what `made` has become of what the tenant asks for; of the other fields, what is known of them stays. */
function printed(pod: Pod, made: Pod, isWritten: (field: string) => boolean): string | undefined {
  const before = recordOf(made)
  const [asked, given] = [fieldsOf(pod.spec), fieldsOf(made.spec)]
  const record: Admitted = {}
  for (const [container, fields] of asked) {
    const there = given.get(container)
    for (const [field, wanted] of fields) {
      const [known, now] = [ownValue(before, field), there?.get(field)]
      if (!isWritten(field)) {
        if (known !== undefined) record[field] = known
      } else if (there !== undefined && !(isImage(field) ? now === wanted : sameAmount(wanted, now))) {
        record[field] = [wanted, now ?? null]
      }
    }
  }
  const known = ownValue(before, tolerationsField)
  const missing = missingFrom(pod.spec?.tolerations ?? [], made.spec?.tolerations ?? [])
  if (isWritten(tolerationsField)) {
    if (missing.length > 0) record[tolerationsField] = [JSON.stringify(missing), null]
  } else if (known !== undefined) record[tolerationsField] = known
  const text = JSON.stringify(record)
  return isEmptyObject(record) || text.length > maxRecordCharacters ? undefined : text
}

function writtenBy(step: Patch | undefined): (field: string) => boolean {
  if (step === undefined) return () => true
  if (step.subresource === "resize") return (field) => !isImage(field)
  const { spec } = step.patch as { spec?: Partial<PodSpec> }
  if (step.subresource !== undefined) return () => false
  const hasImages = (spec?.containers ?? spec?.initContainers) !== undefined
  return (field) => (field === tolerationsField ? spec?.tolerations !== undefined : hasImages && isImage(field))
}

function recordOf({ metadata: { annotations } }: Pod): Admitted | undefined {
  const record = parsed<Json>(annotations?.[admittedAnnotation])
  return isObject(record) ? (record as unknown as Admitted) : undefined
}

function leftOut(known: unknown): Toleration[] {
  const [text] = Array.isArray(known) ? (known as unknown[]) : []
  const all = typeof text === "string" ? parsed<Toleration[]>(text) : undefined
  return Array.isArray(all) ? all : []
}

/** undefined also if somebody has changed it: nothing is known, and it is written anew. */
function parsed<T>(text: string | undefined): T | undefined {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as T
  } catch {
    return undefined
  }
}

/** By container; "": of the pod itself. */
function fieldsOf(spec: PodSpec | undefined): Map<string, Map<string, string>> {
  const containers = new Map<string, Map<string, string>>()
  const add = (container: string, image: string | undefined, { requests, limits }: Resources): void => {
    const fields = new Map<string, string>()
    containers.set(container, fields)
    if (image !== undefined) fields.set(imageOf(container), image)
    for (const [list, amounts] of Object.entries({ requests, limits })) {
      for (const name of resizable) {
        const amount = amounts?.[name]
        if (amount !== undefined) fields.set(amountOf(container, list, name), amount)
      }
    }
  }
  add("", undefined, spec?.resources ?? {})
  for (const { name, image, resources } of [
    ...(spec?.containers ?? []),
    ...(spec?.initContainers ?? []),
  ] as Container[])
    add(name, image, resources ?? {})
  return containers
}
