// What a tenant has set on its virtual nodes: labels, taints, cordons, extended resources. They exist only in the tenant's view of the
// shared nodes. A record of what came from super distinguishes them, so that what super removes is also removed here. Pure.

import type { Taint } from "../../apimachinery/core/node-selection.ts"
import type { Node } from "../../apimachinery/object.ts"
import { publishedAnnotation } from "../../apimachinery/tenancy.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { isExtendedResource } from "../conversion/resource-names.ts"

type Keys = Record<string, string>

interface Published {
  labels: readonly string[]
  /** key:effect */
  taints: readonly string[]
  unschedulable: boolean
  /** Extended resources. */
  resources: readonly string[]
}

interface OwnFields {
  labels: Keys
  taints: readonly Taint[]
  unschedulable: boolean
  resources: Keys
}

const none: OwnFields = { labels: {}, taints: [], unschedulable: false, resources: {} }

const taintId = ({ key, effect }: Taint): string => `${key}:${effect}`

/** The record for a node as super publishes it. */
export function publishedRecord({ metadata, spec, status }: Node): string {
  const record: Published = {
    labels: Object.keys(metadata.labels ?? {}).sort(),
    taints: (spec?.taints ?? []).map(taintId).sort(),
    unschedulable: spec?.unschedulable === true,
    resources: Object.keys(status?.capacity ?? {})
      .filter(isExtendedResource)
      .sort(),
  }
  return JSON.stringify(record)
}

/** Objects of informers are frozen and replaced as a whole, so values derived from one remain valid. */
const known = new WeakMap<Node, OwnFields>()

export function ownFields(node: Node): OwnFields {
  let own = known.get(node)
  if (own === undefined) known.set(node, (own = readOwnFields(node)))
  return own
}

/** Nothing, if the record is missing or invalid: it is then rewritten, and everything it does not contain is removed. */
function readOwnFields({ metadata, spec, status }: Node): OwnFields {
  const published = parseRecord(metadata.annotations?.[publishedAnnotation])
  if (published === undefined) return none
  const without = (keys: object | undefined, shown: readonly string[]): Keys => {
    const known = new Set(shown)
    return Object.fromEntries(Object.entries((keys ?? {}) as Keys).filter(([key]) => !known.has(key)))
  }
  const resources = without(status?.capacity, published.resources)
  const taints = new Set(published.taints)
  return {
    labels: without(metadata.labels, published.labels),
    taints: (spec?.taints ?? []).filter((taint) => !taints.has(taintId(taint))),
    unschedulable: spec?.unschedulable === true && !published.unschedulable,
    resources: Object.fromEntries(Object.entries(resources).filter(([name]) => isExtendedResource(name))),
  }
}

/** Whether the change does not affect where pods may run. */
export const samePlacement = (node: Node, before: Node): boolean =>
  equalIgnoringNulls(node.metadata.labels, before.metadata.labels) &&
  equalIgnoringNulls(ownFields(node), ownFields(before))

function parseRecord(text: string | undefined): Published | undefined {
  try {
    const { labels, taints, unschedulable, resources } = JSON.parse(text ?? "null") as Partial<Published>
    const isList = (value: unknown): value is string[] => Array.isArray(value)
    if (!isList(labels) || !isList(taints) || !isList(resources)) return undefined
    return { labels, taints, resources, unschedulable: unschedulable === true }
  } catch {
    // A tenant may have written anything to the annotation, or removed it.
    return undefined
  }
}

/** The published node with the tenant's own fields. If both set the same field, super's value takes precedence. */
export function withOwnFields(shown: Node, object: Node): Node {
  const own = ownFields(object)
  const ids = new Set((shown.spec?.taints ?? []).map(taintId))
  const taints = [...(shown.spec?.taints ?? []), ...own.taints.filter((taint) => !ids.has(taintId(taint)))]
  const { capacity, allocatable } = shown.status ?? {}
  const hasOwnResources = Object.keys(own.resources).length > 0
  return {
    ...shown,
    metadata: { ...shown.metadata, labels: { ...own.labels, ...shown.metadata.labels } },
    spec: {
      ...shown.spec,
      ...(taints.length === 0 ? {} : { taints: inOrderOf(object.spec?.taints ?? [], taints) }),
      ...(own.unschedulable ? { unschedulable: true } : {}),
    },
    status: {
      ...shown.status,
      // As with a kubelet, the whole capacity of an extended resource is allocatable.
      ...(hasOwnResources
        ? { capacity: { ...own.resources, ...capacity }, allocatable: { ...own.resources, ...allocatable } }
        : {}),
    },
  }
}

/** Keeps the present order of taints: a different order is not a difference. */
function inOrderOf(present: readonly Taint[], taints: Taint[]): Taint[] {
  const places = new Map(present.map((taint, index) => [taintId(taint), index]))
  const place = (taint: Taint): number => places.get(taintId(taint)) ?? present.length
  return taints.sort((a, b) => place(a) - place(b))
}
