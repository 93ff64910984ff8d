// Columns of nodes, namespaces, events and other kinds of the cluster. Source: k8s.io/kubernetes/pkg/printers/internalversion.

import type {
  ConfigMap,
  KubeObject,
  Namespace,
  Node,
  PriorityClass,
  ResourceQuota,
  Secret,
} from "../../../apimachinery/object.ts"
import { toLower, trimSpace } from "../../../apimachinery/texts.ts"
import type { Cell, TableColumn } from "./table-column.ts"
import { ageOf } from "./age.ts"
import { age, column, integer, name, text, truth, wideText } from "./column.ts"

const rolePrefix = "node-role.kubernetes.io/"

export const nodeColumns: readonly TableColumn[] = [
  name,
  text<Node>("Status", ({ spec, status }) => {
    const ready = (status?.conditions ?? []).findLast(({ type }) => type === "Ready")
    const words = [ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady"]
    if (spec?.unschedulable === true) words.push("SchedulingDisabled")
    return words.join(",")
  }),
  text<Node>("Roles", ({ metadata }) => {
    const roles = Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => {
      if (key.startsWith(rolePrefix) && key !== rolePrefix) return [key.slice(rolePrefix.length)]
      return key === "kubernetes.io/role" && value !== "" ? [value] : []
    })
    return [...new Set(roles)].sort().join(",") || "<none>"
  }),
  age,
  text<Node>("Version", ({ status }) => status?.nodeInfo?.kubeletVersion ?? ""),
  wideText<Node>("Internal-IP", (node) => addressOf(node, "InternalIP")),
  wideText<Node>("External-IP", (node) => addressOf(node, "ExternalIP")),
  wideText<Node>("OS-Image", ({ status }) => status?.nodeInfo?.osImage || "<unknown>"),
  wideText<Node>("Kernel-Version", ({ status }) => {
    const { kernelVersion = "", architecture = "" } = status?.nodeInfo ?? {}
    return `${kernelVersion || "<unknown>"}${architecture === "" ? "" : ` (${architecture})`}`
  }),
  wideText<Node>("Container-Runtime", ({ status }) => status?.nodeInfo?.containerRuntimeVersion || "<unknown>"),
]

function addressOf({ status }: Node, type: string): string {
  return (status?.addresses ?? []).find((address) => address.type === type)?.address ?? "<none>"
}

export const namespaceColumns: readonly TableColumn[] = [
  name,
  text<Namespace>("Status", ({ status }) => status?.phase ?? ""),
  age,
]

export const secretColumns: readonly TableColumn[] = [
  name,
  text<Secret>("Type", ({ type }) => type ?? ""),
  text<Secret>("Data", ({ data }) => Object.keys(data ?? {}).length),
  age,
]

export const configMapColumns: readonly TableColumn[] = [
  name,
  text<ConfigMap>("Data", ({ data, binaryData }) => Object.keys({ ...data, ...binaryData }).length),
  age,
]

interface Reference {
  kind?: string
  name?: string
  fieldPath?: string
}

/** An event of either group. */
type Event = KubeObject & {
  type?: string
  reason?: string
  message?: string
  note?: string
  involvedObject?: Reference
  regarding?: Reference
  firstTimestamp?: string | null
  lastTimestamp?: string | null
  deprecatedFirstTimestamp?: string | null
  deprecatedLastTimestamp?: string | null
  eventTime?: string | null
  count?: number
  deprecatedCount?: number
  series?: { count?: number; lastObservedTime?: string }
  source?: { component?: string; host?: string }
  deprecatedSource?: { component?: string; host?: string }
  reportingComponent?: string
  reportingController?: string
  reportingInstance?: string
}

function firstSeen(event: Event): Cell {
  return ageOf(event.firstTimestamp ?? event.deprecatedFirstTimestamp ?? event.eventTime)
}

function lastSeen(event: Event): Cell {
  if (event.series !== undefined) return ageOf(event.series.lastObservedTime)
  const last = event.lastTimestamp ?? event.deprecatedLastTimestamp
  return last ? ageOf(last) : firstSeen(event)
}

function objectOf(event: Event): Reference {
  return event.involvedObject ?? event.regarding ?? {}
}

export const eventColumns: readonly TableColumn[] = [
  text<Event>("Last Seen", lastSeen),
  text<Event>("Type", ({ type }) => type ?? ""),
  text<Event>("Reason", ({ reason }) => reason ?? ""),
  text<Event>("Object", (event) => {
    const { kind = "", name: objectName = "" } = objectOf(event)
    return objectName === "" ? toLower(kind) : `${toLower(kind)}/${objectName}`
  }),
  wideText<Event>("Subobject", (event) => objectOf(event).fieldPath ?? ""),
  wideText<Event>("Source", (event) => {
    const source = event.source ?? event.deprecatedSource ?? {}
    const component = source.component || event.reportingComponent || event.reportingController || ""
    const host = source.host || event.reportingInstance || ""
    return host === "" ? component : `${component}, ${host}`
  }),
  text<Event>("Message", ({ message, note }) => trimSpace(message ?? note ?? "")),
  wideText<Event>("First Seen", firstSeen),
  wideText<Event>("Count", ({ series, count, deprecatedCount }) =>
    series === undefined ? count || deprecatedCount || 1 : (series.count ?? 0),
  ),
  column<Event>("Name", "string", ({ metadata }) => metadata.name ?? "", { priority: 1, format: "name" }),
]

export const resourceQuotaColumns: readonly TableColumn[] = [
  name,
  text<ResourceQuota>("Request", (quota) => usage(quota, false)),
  text<ResourceQuota>("Limit", (quota) => usage(quota, true)),
  age,
]

function usage({ status }: ResourceQuota, limits: boolean): string {
  const hard = (status?.hard ?? {}) as Record<string, string>
  const used = (status?.used ?? {}) as Record<string, string>
  return Object.keys(hard)
    .sort()
    .filter((resource) => resource.startsWith("limits.") === limits)
    .map((resource) => `${resource}: ${used[resource] ?? "0"}/${hard[resource] ?? "0"}`)
    .join(", ")
}

export const priorityClassColumns: readonly TableColumn[] = [
  name,
  integer<PriorityClass>("Value", ({ value }) => value ?? 0),
  truth<PriorityClass>("Global-Default", ({ globalDefault }) => globalDefault ?? false),
  age,
  text<PriorityClass>("PreemptionPolicy", ({ preemptionPolicy }) => preemptionPolicy ?? ""),
]

type Lease = KubeObject & { spec?: { holderIdentity?: string } }
type RuntimeClass = KubeObject & { handler?: string }

export const leaseColumns: readonly TableColumn[] = [
  name,
  text<Lease>("Holder", ({ spec }) => spec?.holderIdentity ?? ""),
  age,
]

export const runtimeClassColumns: readonly TableColumn[] = [
  name,
  text<RuntimeClass>("Handler", ({ handler }) => handler ?? ""),
  age,
]

export const serviceAccountColumns: readonly TableColumn[] = [name, age]

type ComponentStatus = KubeObject & {
  conditions?: { type: string; status: string; message?: string; error?: string }[]
}

function healthOf({ conditions }: ComponentStatus) {
  return (conditions ?? []).find(({ type }) => type === "Healthy")
}

export const componentStatusColumns: readonly TableColumn[] = [
  name,
  text<ComponentStatus>("Status", (component) => {
    const health = healthOf(component)
    if (health === undefined) return "Unknown"
    return health.status === "True" ? "Healthy" : "Unhealthy"
  }),
  text<ComponentStatus>("Message", (component) => healthOf(component)?.message ?? ""),
  text<ComponentStatus>("Error", (component) => healthOf(component)?.error ?? ""),
]
