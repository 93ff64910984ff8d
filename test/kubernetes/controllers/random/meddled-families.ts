// What other families make, while users write what controllers should: statuses, slices of Services, finalizers of a Job's pods.

import { managedByLabel, serviceNameLabel } from "../../../../apimachinery/core/endpoint-slices.ts"
import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { owner, settle } from "../scenarios/steps.ts"
import { autoscalers } from "./autoscalers.ts"
import { cronJobs } from "./cron-jobs.ts"
import { disruptionBudgets } from "./disruption-budgets.ts"
import { type Family, held, maybe, refusable, some } from "./family.ts"
import { jobs } from "./jobs.ts"
import { mirroredEndpoints } from "./mirrored-endpoints.ts"
import { services } from "./services.ts"

type Meddling = (random: Random) => Step

/** Whenever all has come to rest, they may do that, too. */
const meddled =
  (family: Family, meddle: Meddling): Family =>
  (random) => {
    const { steps, ...others } = family(random)
    const more = (): Step[] => (chance(random, 0.4) ? [refusable(meddle(random)), settle] : [])
    return { ...others, steps: steps.flatMap((step) => ("settle" in step ? [step, ...more()] : [step])) }
  }

const status = (resource: string, name: string, fields: object): Step => ({
  patch: [resource, name],
  with: { status: fields },
  subresource: "status",
})

const long = "2020-01-01T00:00:00Z"
const later = "2100-01-01T00:00:00Z"
const nobody = "11111111-2222-3333-4444-555555555555"

const condition = (type: string): object => ({
  type,
  status: "True",
  reason: "Mine",
  message: "so",
  lastTransitionTime: long,
})

const ofCronJob: Meddling = (random) => {
  const fields = pick<object>(random, [
    { active: null },
    { active: [{ apiVersion: "batch/v1", kind: "Job", namespace: "NAMESPACE", name: "nobody", uid: nobody }] },
    { active: [owner] },
    // An earlier one would make the same time due twice: docs/controllers.md.
    { lastScheduleTime: later },
    { lastSuccessfulTime: pick(random, [null, long, later]) },
  ])
  return status("cronjobs", "tick", fields)
}

const ofAutoscaler: Meddling = (random) => {
  const fields = pick<object>(random, [
    { currentReplicas: random(9), desiredReplicas: random(9) },
    { desiredReplicas: random(9) },
    { observedGeneration: random(9) },
    { lastScaleTime: pick(random, [null, long, later]) },
    { currentMetrics: null },
    { currentMetrics: [{ type: "External", external: { metric: { name: "mine" }, current: { value: "3" } } }] },
    { conditions: [] },
    { conditions: [condition("Mine"), condition("ScalingActive"), condition("AbleToScale")] },
  ])
  return status("horizontalpodautoscalers", "web", fields)
}

const ofBudget: Meddling = (random) => {
  const fields = pick<object>(random, [
    { currentHealthy: random(9), desiredHealthy: random(9), expectedPods: random(9) },
    { disruptionsAllowed: random(9) },
    { observedGeneration: random(9) },
    { disruptedPods: { p0: pick(random, [long, later]), nobody: pick(random, [long, later]) } },
    { conditions: pick(random, [null, [condition("Mine")], [condition("DisruptionAllowed")]]) },
  ])
  return status("poddisruptionbudgets", pick(random, ["alone", "a", "b"]), fields)
}

const ofService: Meddling = (random) =>
  chance(random, 0.5)
    ? { patchAll: "endpointslices", with: ofSlice(random) }
    : { patchAll: "endpoints", with: ofEndpoints(random) }

const ofSlice = (random: Random): object =>
  pick<object>(random, [
    { metadata: { labels: { [serviceNameLabel]: pick(random, ["web", "other", null]) } } },
    { metadata: { labels: { [managedByLabel]: null } } },
    { metadata: { ownerReferences: pick(random, [[owner], [{ ...owner, controller: true }]]) } },
    { metadata: { annotations: { note: "x" }, labels: { note: "x" } } },
    { endpoints: some(random, 0, 2, () => randomEndpoint(random)) },
    { ports: [{ name: "http", port: 8080, appProtocol: "mine" }] },
  ])

const randomEndpoint = (random: Random): object => ({
  addresses: [`192.0.2.${1 + random(9)}`],
  ...maybe(random, 0.5, { conditions: { ready: chance(random, 0.5), terminating: chance(random, 0.5) } }),
  ...maybe(random, 0.3, { targetRef: { kind: "Pod", namespace: "NAMESPACE", name: "p0" } }),
  ...maybe(random, 0.3, { nodeName: "n1", zone: "z1" }),
})

const ofEndpoints = (random: Random): object =>
  pick<object>(random, [
    { subsets: null },
    { subsets: [{ addresses: [{ ip: "192.0.2.8" }], ports: [{ port: 1 }] }] },
    { metadata: { labels: { "endpoints.kubernetes.io/managed-by": pick(random, ["mine", null]) } } },
    { metadata: { labels: { "service.kubernetes.io/headless": pick(random, ["", null]) } } },
    { metadata: { annotations: { "endpoints.kubernetes.io/over-capacity": pick(random, ["truncated", "warning"]) } } },
    { metadata: { ownerReferences: [owner] } },
    { metadata: held },
    { metadata: { finalizers: null } },
  ])

const tracking = "batch.kubernetes.io/job-tracking"

const ofPods: Meddling = (random) => {
  const finalizers = pick(random, [null, [tracking], held.finalizers, [tracking, ...held.finalizers]])
  const fields = { metadata: { finalizers } }
  return chance(random, 0.5)
    ? { patchAll: "pods", with: fields }
    : { patchPods: {}, with: fields, count: 1 + random(2) }
}

export const meddledFamilies: Readonly<Record<string, Family>> = {
  "meddled pods of a Job": meddled(jobs, ofPods),
  "meddled CronJob": meddled(cronJobs, ofCronJob),
  "meddled Service": meddled(services, ofService),
  "meddled Endpoints by hand": meddled(mirroredEndpoints, ofService),
  "meddled PodDisruptionBudget": meddled(disruptionBudgets, ofBudget),
  "meddled HorizontalPodAutoscaler": meddled(autoscalers, ofAutoscaler),
}
