// pods/eviction: deletes a pod if its disruption budget allows it. Source:
// k8s.io/kubernetes/pkg/registry/core/pod/storage/eviction.go.

import type * as models from "@kubernetes/client-node"
import { isReady } from "../../../../apimachinery/core/pod-phase.ts"
import { type KubeObject, type ObjectMeta, type Pod, timestamp, type Wire } from "../../../../apimachinery/object.ts"
import { matches, selectorFromLabelSelector } from "../../../../apimachinery/labels.ts"
import { FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import {
  badRequest,
  forbidden,
  hasReason,
  invalid,
  success,
  type StatusCause,
  type StatusError,
  tooManyRequests,
  unexplained,
} from "../../../../apimachinery/status.ts"
import { podDisruptionBudgets as budgets, pods } from "../../../../client/resources.ts"
import { admitOwnUpdate } from "../../../admission/admit.ts"
import type { RequestContext } from "../../../request/context.ts"
import type { Registry } from "../../rest.ts"
import { builtIn, internalWrite, onBehalf, serverUser, withoutAdmission } from "../../generic/internal-write.ts"
import { checkPreconditions, type DeleteOptions, deleteRequestOf } from "../../generic/deletion.ts"
import type { SubresourceHandler } from "../../strategy.ts"
import { setPodCondition } from "./conditions.ts"

type Budget = Wire<models.V1PodDisruptionBudget> & KubeObject & { metadata: ObjectMeta }
interface Eviction extends KubeObject {
  deleteOptions?: DeleteOptions & { ignoreStoreReadErrorWithClusterBreakingPotential?: boolean }
}

/** Maximum number of evicted pods whose deletion the budget's controller has not observed yet. */
const maxDisrupted = 2000
const refusal = "Cannot evict pod as it would violate the pod's disruption budget."

export const eviction: SubresourceHandler = {
  alike: ["policy/v1beta1"],

  async create(ctx, registry, namespace, name, body, options, admit) {
    const wanted = body as Eviction
    if (wanted.metadata.name !== name) {
      throw badRequest("name in URL does not match name in Eviction object")
    }
    const asked = wanted.deleteOptions ?? {}
    if (asked.ignoreStoreReadErrorWithClusterBreakingPotential === true) throw invalid(kind, name, [unsafe])
    const dryRun = dryRunOf(options.dryRun, asked.dryRun ?? [])
    if (wanted.deleteOptions !== undefined && dryRun.length > 0) wanted.deleteOptions.dryRun = dryRun
    await admit.validate(body, undefined)
    const pod = (await registry.get(ctx, namespace, name)).object() as Pod
    const unready = mayIgnoreBudget(pod) ? undefined : await spendBudget(ctx, pod, dryRun.length > 0)
    // A pod that was not ready may have become ready, and then its budget must be checked. So it is deleted only at the
    // resourceVersion that was read, regardless of the caller's preconditions.
    const asSeen = unready === undefined ? {} : { resourceVersion: pod.metadata.resourceVersion ?? "" }
    const preconditions = { ...asked.preconditions, ...asSeen }
    try {
      await markAndDelete(ctx, registry, { namespace, name }, { ...asked, preconditions, dryRun })
    } catch (error) {
      if (unready === undefined || asked.preconditions?.resourceVersion !== undefined) throw error
      throw hasReason(error, "Conflict") ? stillProcessed(unready, error) : error
    }
    return { ...success(), code: 201 }
  },
}

/** Sets the pod's condition before the other delete options are validated. */
async function markAndDelete(
  ctx: RequestContext,
  registry: Registry,
  { namespace, name }: { namespace: string; name: string },
  asked: DeleteOptions,
): Promise<void> {
  const { preconditions = {}, dryRun = [], ...rest } = asked
  const isDry = dryRun.length > 0
  // Empty ones are none yet; an empty uid is one when the pod is deleted.
  const given = Object.fromEntries(Object.entries(preconditions).filter(([, value]) => value !== ""))
  if (!isDry) {
    await registry.update(
      onBehalf(ctx, { ...pods, namespace, name, subresource: "eviction" }),
      namespace,
      name,
      (current) => {
        const present = current as Pod
        checkPreconditions(registry.definition, present, { dryRun: isDry, preconditions: given })
        return markDisrupted(present)
      },
      { ...internalWrite("eviction"), managersKnown: true },
      withoutAdmission,
    )
  }
  // The condition has changed the pod's resourceVersion; the caller's precondition was about the previous one.
  const { resourceVersion: _, ...same } = preconditions
  const request = deleteRequestOf({ ...rest, dryRun, preconditions: isDry ? preconditions : same })
  await registry.delete(
    onBehalf(ctx, { ...pods, namespace, name, verb: "delete" }),
    namespace,
    name,
    request,
    withoutAdmission,
  )
}

const kind = { group: "policy", kind: "Eviction" }
const unsafe = invalidValue(
  FieldPath.root("deleteOptions", "ignoreStoreReadErrorWithClusterBreakingPotential"),
  true,
  "can not be set for pod eviction, try after removing the option",
)

/** The dryRun options of the query and the body must match. */
function dryRunOf(byQuery: boolean | undefined, byBody: readonly string[]): readonly string[] {
  const asked = byQuery === true ? ["All"] : []
  if (byBody.length === 0) return asked
  if (asked.length === 0 || (byBody.length === 1 && byBody[0] === "All")) return byBody
  throw unexplained(`Non-matching dry-run options in request and content: [All] and [${byBody.join(" ")}]`)
}

function mayIgnoreBudget(pod: Pod): boolean {
  const phase = pod.status?.phase ?? ""
  return ["Succeeded", "Failed", "Pending"].includes(phase) || pod.metadata.deletionTimestamp !== undefined
}

function markDisrupted(pod: Pod): Pod {
  setPodCondition(pod, {
    type: "DisruptionTarget",
    status: "True",
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
  })
  return pod
}

/** Returns the budget's name if the pod is not ready and its eviction does not count against the budget. */
async function spendBudget(ctx: RequestContext, pod: Pod, dryRun: boolean): Promise<string | undefined> {
  const { namespace = "", labels = {}, name = "" } = pod.metadata
  const registry = builtIn(ctx, budgets)
  const found = (await registry.list(ctx, { namespace })).items
    .map((item) => item.object() as Budget)
    .filter(
      (budget) =>
        budget.spec?.selector !== undefined && matches(selectorFromLabelSelector(budget.spec.selector), labels),
    )
  const [budget, ...more] = found
  if (budget === undefined) return undefined
  if (more.length > 0) {
    throw unexplained(
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    )
  }
  const budgetName = budget.metadata.name ?? ""
  if (!isReady(pod)) {
    if (budget.spec?.unhealthyPodEvictionPolicy === "AlwaysAllow") return budgetName
    const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {}
    if (currentHealthy >= desiredHealthy && desiredHealthy > 0) return budgetName
  }
  const behalf = onBehalf(ctx, { ...budgets, namespace, name: budgetName, subresource: "status" }, serverUser)
  await registry.update(
    behalf,
    namespace,
    budgetName,
    (current) => disrupt(current as Budget, name),
    internalWrite("status", dryRun),
    admitOwnUpdate(behalf, registry.definition, dryRun),
  )
  return undefined
}

const causes = (message: string): StatusCause[] => [{ reason: "DisruptionBudget", message }]

function stillProcessed(budget: string, cause?: unknown): StatusError {
  const message = `The disruption budget ${budget} is still being processed by the server.`
  return tooManyRequests(refusal, 10, causes(message), { cause })
}

/** Takes one disruption from the budget, or throws the reason why none is allowed. */
function disrupt(budget: Budget, podName: string): Budget {
  const status = budget.status
  const name = budget.metadata.name ?? ""
  if (status === undefined || (status.observedGeneration ?? 0) < (budget.metadata.generation ?? 0)) {
    throw stillProcessed(name)
  }
  const allowed = status.disruptionsAllowed ?? 0
  const resource = { group: "policy", resource: "poddisruptionbudget" }
  if (allowed < 0) throw forbidden(resource, name, "pdb disruptions allowed is negative")
  const disrupted = (status.disruptedPods ?? {}) as unknown as Record<string, string>
  if (Object.keys(disrupted).length > maxDisrupted) {
    throw forbidden(resource, name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller")
  }
  if (allowed === 0) throw tooManyRequests(refusal, 0, causes(refusalReason(name, status)))
  status.disruptionsAllowed = allowed - 1
  if (allowed === 1) setNoneLeft(status)
  status.disruptedPods = { ...disrupted, [podName]: timestamp() }
  return budget
}

function setNoneLeft(status: NonNullable<Budget["status"]>): void {
  const none = {
    type: "DisruptionAllowed",
    status: "False",
    reason: "InsufficientPods",
    message: "",
    ...(status.observedGeneration === undefined ? {} : { observedGeneration: status.observedGeneration }),
  }
  const conditions = [...(status.conditions ?? [])]
  const index = conditions.findIndex(({ type }) => type === none.type)
  const before = conditions[index]
  const since = before?.status === none.status ? before.lastTransitionTime : timestamp()
  conditions.splice(index < 0 ? conditions.length : index, 1, { ...none, lastTransitionTime: since })
  status.conditions = conditions
}

function refusalReason(name: string, status: NonNullable<Budget["status"]>): string {
  const condition = (status.conditions ?? []).find(({ type }) => type === "DisruptionAllowed")
  const failed = condition?.status === "False" && condition.message !== ""
  if (failed && condition.reason === "SyncFailed") {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${condition.message}`
  }
  if ((status.currentHealthy ?? 0) <= (status.desiredHealthy ?? 0)) {
    return `The disruption budget ${name} needs ${status.desiredHealthy} healthy pods and has ${status.currentHealthy} currently`
  }
  if (failed) {
    return `The disruption budget ${name} does not allow evicting pods currently (${condition.reason}): ${condition.message}`
  }
  return `The disruption budget ${name} does not allow evicting pods currently`
}
