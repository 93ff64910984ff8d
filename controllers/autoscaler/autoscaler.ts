// Scales targets by metrics. Source: k8s.io/kubernetes/pkg/controller/podautoscaler.

import { matches, type Selector } from "../../apimachinery/labels.ts"
import type { Pod } from "../../apimachinery/object.ts"
import { horizontalPodAutoscalers, pods as podResource } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { Memory } from "./memory.ts"
import { Round } from "./round.ts"
import type { Autoscaler } from "./types.ts"

/** By tenant, then by "namespace/name". */
type Memories = Map<string, Map<string, Memory>>

export function runAutoscalers(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<Autoscaler>(horizontalPodAutoscalers)
  const pods = ctx.informers.of<Pod>(podResource)
  const memories: Memories = new Map()
  const controller = new Controller<Autoscaler>(ctx, {
    name: "horizontal-pod-autoscaler",
    eventSource: "horizontal-pod-autoscaler",
    primary: all,
    reads: [pods],
    isPeriodic: true,
    forget: (tenant) => memories.delete(tenant),
  })
  all.subscribe({
    deleted(tenant, { metadata }) {
      const ofTenant = memories.get(tenant)
      ofTenant?.delete(idOf(metadata))
      if (ofTenant?.size === 0) memories.delete(tenant)
    },
  })
  return controller.run((key, actor) => reconcile(ctx, actor, memories, key))
}

const idOf = ({ namespace = "", name = "" }: { namespace?: string; name?: string }): string => `${namespace}/${name}`

async function reconcile(ctx: ControllerContext, actor: Actor, memories: Memories, key: Key): Promise<ReconcileResult> {
  const { tenant, namespace } = key
  const autoscaler = ctx.informers.of<Autoscaler>(horizontalPodAutoscalers).get(tenant, namespace, key.name)
  if (autoscaler === undefined) return
  const ofTenant = memories.get(tenant) ?? new Map<string, Memory>()
  memories.set(tenant, ofTenant)
  const [now, elapsed] = [ctx.clock.now(), ctx.clock.elapsed()]
  const period = ctx.limits.autoscalerPeriodMs
  let memory = ofTenant.get(idOf(key))
  if (memory === undefined) {
    // The first reconcile waits one period, because the target may be created shortly after the autoscaler.
    memory = new Memory()
    memory.nextAt = elapsed + period
    ofTenant.set(idOf(key), memory)
  }
  if (elapsed < memory.nextAt) return { requeueAfterMs: memory.nextAt - elapsed }
  const pods = ctx.informers.of<Pod>(podResource).list(tenant, namespace)
  // Neither a change nor a failure makes the next reconcile earlier.
  memory.nextAt = elapsed + period
  await new Round({
    client: actor.client,
    event: (type, reason, message) => actor.event(autoscaler, type, reason, message),
    autoscaler,
    memory,
    pods,
    competitors: (selected) => competitorsFor(selected, namespace, ofTenant),
    now,
    elapsed,
  }).run()
  return { requeueAfterMs: period }
}

/** The autoscalers ("namespace/name") of a namespace that select one of its pods. */
export function competitorsFor(
  pods: readonly Pod[],
  namespace: string,
  all: ReadonlyMap<string, Pick<Memory, "selector">>,
): string[] {
  const selects = (selector: Selector): boolean => pods.some(({ metadata }) => matches(selector, metadata.labels ?? {}))
  return [...all]
    .filter(([id, { selector }]) => id.startsWith(`${namespace}/`) && selector !== undefined && selects(selector))
    .map(([id]) => id)
    .sort()
}
