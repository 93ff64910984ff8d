// What super's admission makes of the images and amounts that a pod asks for, such as images of a mirror, or requests for nodes that are
// overcommitted: it stays as long as the tenant asks for the same. It is recorded on the copy, so that what somebody else changes there can
// be told from it, and undone. Pure.

import type { Container, Pod, PodSpec } from "../../../apimachinery/object.ts"
import { ownValue } from "../../../apimachinery/schema/json-object.ts"
import { admittedAnnotation } from "../../../apimachinery/tenancy.ts"
import type { Patch } from "../resource-sync.ts"
import { resizable, sameAmount } from "./amounts.ts"

type Resources = NonNullable<Container["resources"]>

/** By container and field. */
type Admitted = Record<string, readonly [asked: string, given: string]>

/** A longer record is none: a server accepts 256 KiB of annotations. */
const maxRecordCharacters = 64 * 1024

const imageOf = (container: string): string => `${container} image`
const amountOf = (container: string, list: string, name: string): string => `${container} ${list}.${name}`
const isImage = (field: string): boolean => field.endsWith(" image")

export interface Admission {
  /** Whether super's admission has made this of what is asked for. */
  hasGiven(container: string, image: string, given: string | undefined): boolean
  hasGivenAmount(container: string, list: string, name: string, asked: string, given: string | undefined): boolean
}

/** As it is recorded on the copy. */
export function admissionOf(superPod: Pod): Admission {
  const record = recordOf(superPod)
  const has = (field: string, asked: string, given: string | undefined): boolean => {
    const known = ownValue(record, field)
    return known !== undefined && known[0] === asked && known[1] === given
  }
  return {
    hasGiven: (container, image, given) => has(imageOf(container), image, given),
    hasGivenAmount: (container, list, name, asked, given) => has(amountOf(container, list, name), asked, given),
  }
}

/** The change of the record after super has answered `made` to a write of everything, or of this step. */
export function recordAdmission(pod: Pod, made: Pod, step?: Patch): Patch | undefined {
  const isWritten = writtenBy(step)
  const before = recordOf(made)
  const given = fieldsOf(made.spec)
  const record: Admitted = {}
  for (const [field, asked] of fieldsOf(pod.spec)) {
    const now = given.get(field)
    const known = ownValue(before, field)
    if (!isWritten(field)) {
      if (known !== undefined) record[field] = known
    } else if (now !== undefined && !(isImage(field) ? now === asked : sameAmount(asked, now))) {
      record[field] = [asked, now]
    }
  }
  const text = Object.keys(record).length === 0 ? undefined : JSON.stringify(record)
  const isKept = text === undefined || text.length <= maxRecordCharacters
  if (!isKept || text === made.metadata.annotations?.[admittedAnnotation]) return undefined
  return { patch: { metadata: { annotations: { [admittedAnnotation]: text ?? null } } } }
}

function writtenBy(step: Patch | undefined): (field: string) => boolean {
  if (step === undefined) return () => true
  if (step.subresource === "resize") return (field) => !isImage(field)
  const { spec } = step.patch as { spec?: Partial<PodSpec> }
  return step.subresource === undefined && (spec?.containers ?? spec?.initContainers) !== undefined
    ? isImage
    : () => false
}

function recordOf({ metadata: { annotations } }: Pod): Admitted {
  const text = annotations?.[admittedAnnotation]
  if (text === undefined) return {}
  try {
    return JSON.parse(text) as Admitted
  } catch {
    // Somebody has changed it: nothing is known, and it is written anew.
    return {}
  }
}

function fieldsOf(spec: PodSpec | undefined): Map<string, string> {
  const fields = new Map<string, string>()
  const addAmounts = (container: string, { requests, limits }: Resources): void => {
    for (const [list, amounts] of Object.entries({ requests, limits })) {
      for (const name of resizable) {
        const amount = amounts?.[name]
        if (amount !== undefined) fields.set(amountOf(container, list, name), amount)
      }
    }
  }
  for (const { name, image, resources } of [
    ...(spec?.containers ?? []),
    ...(spec?.initContainers ?? []),
  ] as Container[]) {
    if (image !== undefined) fields.set(imageOf(name), image)
    addAmounts(name, resources ?? {})
  }
  // Of the pod itself.
  addAmounts("", spec?.resources ?? {})
  return fields
}
