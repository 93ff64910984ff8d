// Columns of kinds that control others: permissions, budgets, scaling, webhooks, fairness. Source:
// k8s.io/kubernetes/pkg/printers/internalversion.

import type * as models from "@kubernetes/client-node"
import type { KubeObject, RoleBinding, Wire } from "../../../apimachinery/object.ts"
import type { TableColumn } from "./table-column.ts"
import { storedAutoscaler } from "../conversion/autoscaling.ts"
import type { LabelSelector } from "../validation/selectors.ts"
import { humanDuration } from "./age.ts"
import { age, integer, name, text, wideText } from "./column.ts"

type Budget = KubeObject & {
  spec?: { minAvailable?: string | number; maxUnavailable?: string | number }
  status?: { disruptionsAllowed?: number }
}
type Request = KubeObject & {
  spec?: { signerName?: string; username?: string; expirationSeconds?: number }
  status?: { conditions?: { type: string }[]; certificate?: string }
}
type Webhooks = KubeObject & { webhooks?: unknown[] }
type Policy = KubeObject & {
  spec?: { validations?: unknown[]; mutations?: unknown[]; paramKind?: { apiVersion?: string; kind?: string } }
}
type Binding = KubeObject & {
  spec?: { policyName?: string; paramRef?: { name?: string; namespace?: string; selector?: LabelSelector } }
}
type FlowSchema = KubeObject & {
  spec?: {
    priorityLevelConfiguration?: { name?: string }
    matchingPrecedence?: number
    distinguisherMethod?: { type?: string }
  }
  status?: { conditions?: { type: string; status: string }[] }
}
type PriorityLevel = KubeObject & {
  spec?: {
    type?: string
    limited?: {
      nominalConcurrencyShares?: number
      limitResponse?: { queuing?: { queues?: number; handSize?: number; queueLengthLimit?: number } }
    }
  }
}

export const podDisruptionBudgetColumns: readonly TableColumn[] = [
  name,
  text<Budget>("Min Available", ({ spec }) => String(spec?.minAvailable ?? "N/A")),
  text<Budget>("Max Unavailable", ({ spec }) => String(spec?.maxUnavailable ?? "N/A")),
  integer<Budget>("Allowed Disruptions", ({ status }) => status?.disruptionsAllowed ?? 0),
  age,
]

export const bindingColumns: readonly TableColumn[] = [
  name,
  text<RoleBinding>("Role", ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`),
  age,
  wideText<RoleBinding>("Users", (binding) => subjects(binding, "User")),
  wideText<RoleBinding>("Groups", (binding) => subjects(binding, "Group")),
  wideText<RoleBinding>("ServiceAccounts", (binding) => subjects(binding, "ServiceAccount")),
]

function subjects(binding: RoleBinding, kind: string): string {
  return (binding.subjects ?? [])
    .filter((subject) => subject.kind === kind)
    .map((subject) => (kind === "ServiceAccount" ? `${subject.namespace ?? ""}/${subject.name}` : subject.name))
    .join(", ")
}

export const certificateSigningRequestColumns: readonly TableColumn[] = [
  name,
  age,
  text<Request>("SignerName", ({ spec }) => spec?.signerName || "<none>"),
  text<Request>("Requestor", ({ spec }) => spec?.username ?? ""),
  text<Request>("RequestedDuration", ({ spec }) =>
    spec?.expirationSeconds === undefined ? "<none>" : humanDuration(spec.expirationSeconds * 1000),
  ),
  text<Request>("Condition", ({ status }) => {
    const types = new Set((status?.conditions ?? []).map(({ type }) => type))
    const words = [types.has("Denied") ? "Denied" : types.has("Approved") ? "Approved" : "Pending"]
    if (types.has("Failed")) words.push("Failed")
    if (status?.certificate) words.push("Issued")
    return words.join(",")
  }),
]

export const webhookColumns: readonly TableColumn[] = [
  name,
  integer<Webhooks>("Webhooks", ({ webhooks }) => (webhooks ?? []).length),
  age,
]

const paramKind = text<Policy>("ParamKind", ({ spec }) =>
  spec?.paramKind === undefined ? "<unset>" : `${spec.paramKind.apiVersion ?? ""}/${spec.paramKind.kind ?? ""}`,
)

export const validatingPolicyColumns: readonly TableColumn[] = [
  name,
  integer<Policy>("Validations", ({ spec }) => (spec?.validations ?? []).length),
  paramKind,
  age,
]

export const mutatingPolicyColumns: readonly TableColumn[] = [
  name,
  integer<Policy>("Mutations", ({ spec }) => (spec?.mutations ?? []).length),
  paramKind,
  age,
]

export const policyBindingColumns: readonly TableColumn[] = [
  name,
  text<Binding>("PolicyName", ({ spec }) => spec?.policyName ?? ""),
  text<Binding>("ParamRef", ({ spec }) => {
    const reference = spec?.paramRef
    if (reference?.name) return `${reference.namespace || "*"}/${reference.name}`
    return reference?.selector === undefined ? "<unset>" : printInGo(reference.selector)
  }),
  age,
]

/** Upstream shows the selector in Go's struct format. */
function printInGo({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key]},`)
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
  )
  const lists = [`map[string]string{${labels.join("")}}`, `[]LabelSelectorRequirement{${expressions.join("")}}`]
  return `&LabelSelector{MatchLabels:${lists[0]},MatchExpressions:${lists[1]},}`
}

export const flowSchemaColumns: readonly TableColumn[] = [
  name,
  text<FlowSchema>("PriorityLevel", ({ spec }) => spec?.priorityLevelConfiguration?.name ?? ""),
  text<FlowSchema>("MatchingPrecedence", ({ spec }) => spec?.matchingPrecedence ?? 0),
  text<FlowSchema>("DistinguisherMethod", ({ spec }) => spec?.distinguisherMethod?.type ?? "<none>"),
  age,
  text<FlowSchema>("MissingPL", ({ status }) => {
    const dangling = (status?.conditions ?? []).find(({ type }) => type === "Dangling")
    return dangling?.status ?? "?"
  }),
]

const unset = "<none>"

export const priorityLevelColumns: readonly TableColumn[] = [
  name,
  text<PriorityLevel>("Type", ({ spec }) => spec?.type ?? ""),
  text<PriorityLevel>("NominalConcurrencyShares", ({ spec }) => spec?.limited?.nominalConcurrencyShares ?? unset),
  text<PriorityLevel>("Queues", ({ spec }) => spec?.limited?.limitResponse?.queuing?.queues ?? unset),
  text<PriorityLevel>("HandSize", ({ spec }) => spec?.limited?.limitResponse?.queuing?.handSize ?? unset),
  text<PriorityLevel>(
    "QueueLengthLimit",
    ({ spec }) => spec?.limited?.limitResponse?.queuing?.queueLengthLimit ?? unset,
  ),
  age,
]

type Metric = Wire<models.V2MetricSpec>
type Current = Wire<models.V2MetricStatus>
type Autoscaler = KubeObject & {
  spec?: {
    scaleTargetRef?: { kind?: string; name?: string }
    minReplicas?: number
    maxReplicas?: number
    metrics?: Metric[] | null
  }
  status?: { currentReplicas?: number; currentMetrics?: Current[] | null }
}

const shownMetrics = 2

export const horizontalPodAutoscalerColumns: readonly TableColumn[] = [
  name,
  text<Autoscaler>(
    "Reference",
    ({ spec }) => `${spec?.scaleTargetRef?.kind ?? ""}/${spec?.scaleTargetRef?.name ?? ""}`,
  ),
  text<Autoscaler>("Targets", targets),
  text<Autoscaler>("MinPods", ({ spec }) => String(spec?.minReplicas ?? "<unset>")),
  text<Autoscaler>("MaxPods", ({ spec }) => spec?.maxReplicas ?? 0),
  text<Autoscaler>("Replicas", ({ status }) => status?.currentReplicas ?? 0),
  age,
]

function targets(autoscaler: Autoscaler): string {
  // The blank object of a bookmark does not get the metric that all others have.
  if (autoscaler.metadata.name === undefined) return "<none>"
  const { spec, status } = storedAutoscaler(autoscaler) as Autoscaler
  const metrics = spec?.metrics ?? []
  if (metrics.length === 0) return "<none>"
  const list = metrics.map((metric, index) => printMetric(metric, status?.currentMetrics?.[index]))
  const shown = list.slice(0, shownMetrics).join(", ")
  return list.length > shownMetrics ? `${shown} + ${list.length - shownMetrics} more...` : shown
}

/** Only a status of the same source counts. */
function printMetric(metric: Metric, status: Current | undefined): string {
  if (metric.resource !== undefined) return printResource(metric.resource, status?.resource)
  if (metric.containerResource !== undefined) return printResource(metric.containerResource, status?.containerResource)
  if (metric.pods !== undefined) {
    const { averageValue = noAmount } = metric.pods.target
    return `${amountOf(status?.pods, "averageValue")}/${averageValue}`
  }
  const source = metric.external ?? metric.object
  if (source === undefined) return "<unknown type>"
  const { averageValue, value = noAmount } = source.target
  const current = metric.external === undefined ? status?.object : status?.external
  return averageValue === undefined
    ? `${amountOf(current, "value")}/${value}`
    : `${current?.current.averageValue ?? unknown}/${averageValue} (avg)`
}

type ResourceMetric = NonNullable<Metric["resource"]>
type Measured = { current: NonNullable<Current["resource"]>["current"] }

function printResource({ name: resource, target }: ResourceMetric, status: Measured | undefined): string {
  const { averageValue, averageUtilization } = target
  if (averageValue !== undefined) return `${resource}: ${amountOf(status, "averageValue")}/${averageValue}`
  return `${resource}: ${share(status?.current.averageUtilization, unknown)}/${share(averageUtilization, "<auto>")}`
}

const unknown = "<unknown>"
/** How Go prints a quantity that is not set. */
const noAmount = "<nil>"

function amountOf(status: Measured | undefined, field: "value" | "averageValue"): string {
  return status === undefined ? unknown : (status.current[field] ?? noAmount)
}

function share(percent: number | undefined, otherwise: string): string {
  return percent === undefined ? otherwise : `${percent}%`
}
