// Claims of generic ephemeral volumes: one per volume, created from the pod's template and owned by the pod.
// Source: k8s.io/kubernetes/pkg/controller/volume/ephemeral.

import { errorMessage } from "../../apimachinery/error-message.ts"
import { controllerOf, type PersistentVolumeClaim, type Pod } from "../../apimachinery/object.ts"
import { restated, StatusError } from "../../apimachinery/status.ts"
import { persistentVolumeClaims, pods as podResource } from "../../client/resources.ts"
import { TerminalError } from "../../client/workqueue/workers.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller } from "../controller.ts"
import { controllerReference } from "../pods/pod-control.ts"
import { isTerminating } from "../pods/pod-state.ts"

const podKind = { apiVersion: "v1", kind: "Pod" } as const

type Volume = NonNullable<NonNullable<Pod["spec"]>["volumes"]>[number]

const hasEphemeral = (pod: Pod): boolean => (pod.spec?.volumes ?? []).some(({ ephemeral }) => ephemeral !== undefined)

export function runEphemeralVolumes(ctx: ControllerContext): Promise<void> {
  const pods = ctx.informers.of<Pod>(podResource)
  const claims = ctx.informers.of<PersistentVolumeClaim>(persistentVolumeClaims)
  const controller = new Controller<Pod>(ctx, {
    name: "ephemeral-volume",
    eventSource: "ephemeral_volume",
    primary: pods,
    concerns: hasEphemeral,
    reads: [claims],
  })
  claims.subscribe({
    deleted(tenant, { metadata }) {
      const using = pods.byIndex(tenant, "claims", `${metadata.namespace ?? ""}/${metadata.name ?? ""}`)
      for (const pod of using) controller.enqueueObject(tenant, pod)
    },
  })
  return controller.run(async ({ tenant, namespace, name }, actor) => {
    const pod = pods.get(tenant, namespace, name)
    if (pod === undefined || !hasEphemeral(pod) || isTerminating(pod)) return
    for (const volume of pod.spec?.volumes ?? []) {
      if (volume.ephemeral === undefined) continue
      const claim = `${name}-${volume.name}`
      try {
        const present = claims.get(tenant, namespace, claim)
        if (present !== undefined) checkOwner(present, pod)
        else await create(actor, pod, volume, claim)
      } catch (error) {
        if (isNamespaceTerminating(error)) return
        const text = `ephemeral volume ${volume.name}: ${errorMessage(error)}`
        actor.event(pod, "Warning", "FailedBinding", text)
        throw error
      }
    }
  })
}

/** The pod must not use another owner's claim of that name. */
function checkOwner(claim: PersistentVolumeClaim, pod: Pod): void {
  if (controllerOf(claim)?.uid === pod.metadata.uid) return
  const { namespace = "", name = "" } = claim.metadata
  const of = `${pod.metadata.namespace ?? ""}/${pod.metadata.name ?? ""}`
  throw new TerminalError(`PVC ${namespace}/${name} was not created for pod ${of} (pod is not owner)`)
}

async function create(actor: Actor, pod: Pod, { ephemeral }: Volume, name: string): Promise<void> {
  const { metadata, spec } = ephemeral?.volumeClaimTemplate ?? {}
  const claim: PersistentVolumeClaim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name,
      namespace: pod.metadata.namespace ?? "",
      ...(metadata?.labels === undefined ? {} : { labels: metadata.labels }),
      ...(metadata?.annotations === undefined ? {} : { annotations: metadata.annotations }),
      ownerReferences: [controllerReference(pod, podKind)],
    },
    ...(spec === undefined ? {} : { spec }),
  }
  try {
    await actor.client.create(persistentVolumeClaims, claim)
  } catch (error) {
    const text = `create PVC ${name}: ${errorMessage(error)}`
    // The error's kind determines whether the caller retries.
    throw error instanceof StatusError
      ? restated(error, { message: text }, { cause: error })
      : new Error(text, { cause: error })
  }
}
