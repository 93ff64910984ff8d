// Deletes finished Jobs after spec.ttlSecondsAfterFinished. Source: k8s.io/kubernetes/pkg/controller/ttlafterfinished.

import type { Job } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { jobs } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import type { ControllerContext } from "../context.ts"
import { Controller } from "../controller.ts"
import { isFinishedJob } from "./finished.ts"

export function runTtlAfterFinished(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<Job>(jobs)
  const controller = new Controller<Job>(ctx, { name: "ttl-after-finished", primary: all })
  return controller.run(async ({ tenant, namespace, name }, actor): Promise<ReconcileResult> => {
    const cached = all.get(tenant, namespace, name)
    if (cached === undefined || expiryOf(cached) === undefined) return
    const wait = (expiryOf(cached) ?? 0) - ctx.clock.now()
    if (wait > 0) return { requeueAfterMs: wait }
    try {
      // The TTL may have been extended since.
      const job = await actor.client.get<Job>(jobs, namespace, name)
      const expiry = expiryOf(job)
      if (expiry === undefined || expiry > ctx.clock.now() || job.metadata.uid !== cached.metadata.uid) return
      const { uid, resourceVersion } = job.metadata
      await actor.client.delete(jobs, namespace, name, {
        propagationPolicy: "Foreground",
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  })
}

/** When the Job expires; undefined if it has no TTL, is not finished, nobody knows since when, or is being deleted already. */
function expiryOf(job: Job): number | undefined {
  const ttl = job.spec?.ttlSecondsAfterFinished
  if (ttl === undefined || job.metadata.deletionTimestamp !== undefined || !isFinishedJob(job)) return undefined
  const ended = job.status?.conditions?.find(
    ({ type, status }) => ["Complete", "Failed"].includes(type) && status === "True",
  )
  const at = ended?.lastTransitionTime ?? ""
  return at === "" ? undefined : Date.parse(at) + ttl * 1000
}
