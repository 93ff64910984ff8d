// Columns of what rules over others: rights, budgets, scaling, webhooks, fairness. Source:
// k8s.io/kubernetes/pkg/printers/internalversion.

import type * as models from "@kubernetes/client-node"
import type { KubeObject, RoleBinding, Wire } from "../../../apimachinery/object.ts"
import type { TableColumn } from "../../endpoints/table.ts"
import { age, column, humanDuration, integer, name, text, wideText } from "./column.ts"

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
type Binding = KubeObject & { spec?: { policyName?: string; paramRef?: { name?: string; namespace?: string } } }
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
    exempt?: { nominalConcurrencyShares?: number }
  }
}

export const podDisruptionBudgetColumns: readonly TableColumn[] = [
  name,
  text<Budget>("Min Available", ({ spec }) => String(spec?.minAvailable ?? "N/A")),
  text<Budget>("Max Unavailable", ({ spec }) => String(spec?.maxUnavailable ?? "N/A")),
  integer<Budget>("Allowed Disruptions", ({ status }) => status?.disruptionsAllowed ?? 0),
  age,
]

/** Roles show when they were made, to the second, as they always did. */
export const roleColumns: readonly TableColumn[] = [
  name,
  column("Created At", "date", ({ metadata }) => metadata.creationTimestamp ?? null),
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
    return reference?.name ? `${reference.namespace || "*"}/${reference.name}` : "<unset>"
  }),
  age,
]

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
  text<PriorityLevel>(
    "NominalConcurrencyShares",
    ({ spec }) => spec?.limited?.nominalConcurrencyShares ?? spec?.exempt?.nominalConcurrencyShares ?? unset,
  ),
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
/** In the words of either version. */
type Autoscaler = KubeObject & {
  spec?: {
    scaleTargetRef?: { kind?: string; name?: string }
    minReplicas?: number
    maxReplicas?: number
    metrics?: Metric[]
    targetCPUUtilizationPercentage?: number
  }
  status?: { currentReplicas?: number; currentMetrics?: Current[] | null; currentCPUUtilizationPercentage?: number }
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

function targets({ spec, status }: Autoscaler): string {
  if (spec?.targetCPUUtilizationPercentage !== undefined) {
    const current = status?.currentCPUUtilizationPercentage
    return `cpu: ${current === undefined ? "<unknown>" : `${current}%`}/${spec.targetCPUUtilizationPercentage}%`
  }
  const metrics = spec?.metrics ?? []
  if (metrics.length === 0) return "<none>"
  const list = metrics.map((metric, index) => printMetric(metric, status?.currentMetrics?.[index]))
  const shown = list.slice(0, shownMetrics).join(", ")
  return list.length > shownMetrics ? `${shown} + ${list.length - shownMetrics} more...` : shown
}

function printMetric(metric: Metric, status: Current | undefined): string {
  const source = metric.resource ?? metric.containerResource
  if (source !== undefined) {
    const now = (status?.resource ?? status?.containerResource)?.current
    const { averageValue, averageUtilization } = source.target
    if (averageValue !== undefined) return `${source.name}: ${now?.averageValue ?? "<unknown>"}/${averageValue}`
    const current = now?.averageUtilization === undefined ? "<unknown>" : `${now.averageUtilization}%`
    return `${source.name}: ${current}/${averageUtilization === undefined ? "<auto>" : `${averageUtilization}%`}`
  }
  const target = (metric.external ?? metric.object ?? metric.pods)?.target
  const now = (status?.external ?? status?.object ?? status?.pods)?.current
  if (target === undefined) return "<unknown type>"
  if (metric.pods !== undefined) return `${now?.averageValue ?? "<unknown>"}/${target.averageValue ?? ""}`
  return target.averageValue === undefined
    ? `${now?.value ?? "<unknown>"}/${target.value ?? ""}`
    : `${now?.averageValue ?? "<unknown>"}/${target.averageValue} (avg)`
}
