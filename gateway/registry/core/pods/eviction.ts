// pods/eviction: a delete that asks the pod's disruption budget first. Source:
// k8s.io/kubernetes/pkg/registry/core/pod/storage/eviction.go.

import type * as models from "@kubernetes/client-node"
import { type KubeObject, type ObjectMeta, type Pod, timestamp, type Wire } from "../../../../apimachinery/object.ts"
import { matches, selectorFromLabelSelector } from "../../../../apimachinery/labels.ts"
import { FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import {
  badRequest,
  forbidden,
  internalError,
  invalid,
  success,
  type StatusCause,
  tooManyRequests,
  unexplained,
} from "../../../../apimachinery/status.ts"
import type { RequestContext } from "../../../request/context.ts"
import { builtIn, internalWrite, onBehalf, withoutAdmission } from "../../internal-write.ts"
import { checkPreconditions, type DeleteOptions, deleteRequestOf } from "../../deletion.ts"
import type { SubresourceHandler } from "../../strategy.ts"
import { setPodCondition } from "./conditions.ts"

type Budget = Wire<models.V1PodDisruptionBudget> & KubeObject & { metadata: ObjectMeta }
interface Eviction extends KubeObject {
  deleteOptions?: DeleteOptions & { ignoreStoreReadErrorWithClusterBreakingPotential?: boolean }
}

const pods = { group: "", version: "v1", resource: "pods" }
const budgets = { group: "policy", version: "v1", resource: "poddisruptionbudgets" }
/** Evicted pods whose end the budget's controller has not seen yet. */
const maxDisrupted = 2000
const refusal = "Cannot evict pod as it would violate the pod's disruption budget."

export const eviction: SubresourceHandler = {
  async create(ctx, registry, namespace, name, body, options, admit) {
    const wanted = body as Eviction
    if (wanted.metadata.name !== name) {
      throw badRequest("name in URL does not match name in Eviction object")
    }
    const asked = wanted.deleteOptions ?? {}
    if (asked.ignoreStoreReadErrorWithClusterBreakingPotential === true) throw invalid(kind, name, [unsafe])
    const dryRun = dryRunOf(options.dryRun, asked.dryRun ?? [])
    await admit.mutate(body, undefined)
    await admit.validate(body, undefined)
    const pod = (await registry.get(ctx, namespace, name)).object() as Pod
    if (!mayIgnoreBudget(pod)) await spendBudget(ctx, pod, dryRun.length > 0)
    const request = deleteRequestOf({ ...asked, dryRun })
    if (!request.dryRun) {
      await registry.update(
        onBehalf(ctx, { ...pods, namespace, name, subresource: "eviction" }),
        namespace,
        name,
        (current) => {
          const present = current as Pod
          checkPreconditions(registry.definition, present, request)
          return markDisrupted(present)
        },
        { ...internalWrite("eviction"), managersKnown: true },
        withoutAdmission,
      )
      // The mark has given the pod another revision; the caller's precondition was about the one before.
      if (request.preconditions?.uid !== undefined) request.preconditions = { uid: request.preconditions.uid }
      else delete request.preconditions
    }
    await registry.delete(
      onBehalf(ctx, { ...pods, namespace, name, verb: "delete" }),
      namespace,
      name,
      request,
      withoutAdmission,
    )
    return { ...success(), code: 201 } as unknown as KubeObject
  },
}

const kind = { group: "policy", kind: "Eviction" }
const unsafe = invalidValue(
  FieldPath.root("deleteOptions", "ignoreStoreReadErrorWithClusterBreakingPotential"),
  true,
  "can not be set for pod eviction, try after removing the option",
)

/** What the query says and what the body says may not be two things. */
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

async function spendBudget(ctx: RequestContext, pod: Pod, dryRun: boolean): Promise<void> {
  const { namespace = "", labels = {}, name = "" } = pod.metadata
  const registry = builtIn(ctx, budgets)
  const found = (await registry.list(ctx, { namespace })).items
    .map((item) => item.object() as Budget)
    .filter(
      (budget) =>
        budget.spec?.selector !== undefined && matches(selectorFromLabelSelector(budget.spec.selector), labels),
    )
  const [budget, ...more] = found
  if (budget === undefined) return
  if (more.length > 0) {
    throw internalError(
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    )
  }
  if (!isReady(pod)) {
    if (budget.spec?.unhealthyPodEvictionPolicy === "AlwaysAllow") return
    const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {}
    if (currentHealthy >= desiredHealthy && desiredHealthy > 0) return
  }
  const budgetName = budget.metadata.name ?? ""
  await registry.update(
    onBehalf(ctx, { ...budgets, namespace, name: budgetName, subresource: "status" }),
    namespace,
    budgetName,
    (current) => disrupt(current as Budget, name),
    internalWrite("status", dryRun),
    withoutAdmission,
  )
}

function isReady(pod: Pod): boolean {
  return (pod.status?.conditions ?? []).some(({ type, status }) => type === "Ready" && status === "True")
}

/** Takes one disruption from the budget, or says why there is none. */
function disrupt(budget: Budget, podName: string): Budget {
  const status = budget.status
  const name = budget.metadata.name ?? ""
  const causes = (message: string): StatusCause[] => [{ reason: "DisruptionBudget", message }]
  if (status === undefined || (status.observedGeneration ?? 0) < (budget.metadata.generation ?? 0)) {
    throw tooManyRequests(refusal, 10, causes(`The disruption budget ${name} is still being processed by the server.`))
  }
  const allowed = status.disruptionsAllowed ?? 0
  const resource = { group: "policy", resource: "poddisruptionbudget" }
  if (allowed < 0) throw forbidden(resource, name, "pdb disruptions allowed is negative")
  const disrupted = (status.disruptedPods ?? {}) as unknown as Record<string, string>
  if (Object.keys(disrupted).length > maxDisrupted) {
    throw forbidden(resource, name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller")
  }
  if (allowed === 0) throw tooManyRequests(refusal, 0, causes(whyNone(name, status)))
  status.disruptionsAllowed = allowed - 1
  status.disruptedPods = { ...disrupted, [podName]: timestamp() } as unknown as NonNullable<typeof status.disruptedPods>
  return budget
}

function whyNone(name: string, status: NonNullable<Budget["status"]>): string {
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
