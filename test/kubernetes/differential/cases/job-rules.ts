// Jobs: templates of suspended jobs, labels that older jobs lack, indexes as texts, and names of time zones.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"

const batch = "/apis/batch/v1/namespaces/@{ns}"
const jobs = `${batch}/jobs`
const podSpec = { restartPolicy: "Never", containers: [{ name: "a", image: "b" }] }

export function jobRuleCases(): Scenario[] {
  return [
    ...suspended(),
    { name: "the template of a running job changes", steps: [post(jobs, job({})), ...templateChanges()] },
    { name: "a job gets the labels that are generated", steps: generated() },
    { name: "a job loses its labels in a write of its status, and has those of its template", steps: unlabelled() },
    { name: "completions of an indexed job change", steps: completions() },
    { name: "indexes of a job are written in many ways", steps: indexes() },
    { name: "a job completes in other ways than there are", steps: otherModes() },
    { name: "a cron job is in a time zone", steps: zones.map(inZone) },
  ]
}

const job = (spec: object, template: object = {}): Json => ({
  metadata: { name: "j" },
  spec: { template: { spec: podSpec, ...template }, ...spec },
})

/** Only revisions tell which labels are stored. */
function unlabelled(): RequestStep[] {
  const one = `${jobs}/j`
  const status: Json = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "j" }, status: { ready: 1 } }
  const nothing = (time: string): RequestStep => patch(one, mergePatch, {}, { label: `PATCH nothing ${time}` })
  const read = (time: string): RequestStep => get(one, { label: `GET ${time}` })
  return [
    post(jobs, job({})),
    nothing("after the create"),
    nothing("again"),
    put(`${one}/status`, status, { label: "PUT status" }),
    read("without labels"),
    get(`${jobs}?labelSelector=job-name%3Dj`),
    put(`${one}/status`, status, { label: "PUT status again" }),
    nothing("after the status"),
    nothing("once more"),
    patch(one, mergePatch, { metadata: { labels: { a: "b" } } }, { label: "PATCH labels" }),
    put(`${one}/status`, status, { label: "PUT status of a labelled one" }),
    nothing("at the end"),
    read("at the end"),
  ]
}

const change = (change: Json, label: string): RequestStep =>
  patch(`${jobs}/j?dryRun=All`, mergePatch, change, { label: `PATCH ${label}` })

function otherModes(): RequestStep[] {
  const limits = { maxFailedIndexes: 80, backoffLimitPerIndex: 1 }
  const specs: object[] = [
    { ...limits, completionMode: "Other" },
    { ...limits, completionMode: "" },
    { ...limits, completionMode: null },
    { maxFailedIndexes: 80, completionMode: "Indexed", completions: 3 },
    { ...limits, completionMode: "Other", completions: -1, parallelism: -1, successPolicy: { rules: [] } },
  ]
  return specs.map((spec) => post(`${jobs}?dryRun=All`, job(spec), { label: `POST ${JSON.stringify(spec)}` }))
}

function templateChanges(): RequestStep[] {
  const specs: Readonly<Record<string, object>> = {
    image: { containers: [{ name: "a", image: "c" }] },
    resources: { containers: [{ name: "a", image: "b", resources: { requests: { cpu: "1" } } }] },
    "name of a container": { containers: [{ name: "z", image: "b" }] },
    "number of containers": { initContainers: [{ name: "i", image: "b" }] },
    selector: { nodeSelector: { a: "b" } },
    gates: { schedulingGates: [{ name: "example.com/a" }] },
    "affinity to nodes": { affinity: { nodeAffinity: {} } },
    "affinity to pods": { affinity: { podAffinity: {} } },
    deadline: { activeDeadlineSeconds: 5 },
  }
  return [
    ...Object.entries(specs).map(([label, spec]) => change({ spec: { template: { spec } } } as Json, label)),
    change({ spec: { template: { metadata: { annotations: { a: "b" } } } } }, "annotations"),
  ]
}

/** Whether a template may change depends on the status. */
function suspended(): Scenario[] {
  const conditions = [{ type: "Suspended", status: "True" }]
  const startTime = "2024-01-02T03:04:05Z"
  const statuses: Readonly<Record<string, Json>> = {
    "has not started": {},
    "has started": { startTime },
    "still has a pod": { startTime, conditions, active: 1 },
    "has no pods left": { startTime, conditions },
  }
  const status = (given: Json): RequestStep =>
    patch(`${jobs}/j/status`, mergePatch, { status: given }, { label: "PATCH status" })
  return Object.entries(statuses).map(([when, given]) => ({
    name: `the template of a suspended job changes that ${when}`,
    anyOrder: true, // of managers, which write within one second or two
    steps: [post(jobs, job({ suspend: true })), status(given), ...templateChanges()],
  }))
}

function generated(): RequestStep[] {
  const selector = { matchLabels: { a: "b" } }
  return [
    post(jobs, job({ manualSelector: true, selector }, { metadata: { labels: { a: "b" } } })),
    change({ spec: { manualSelector: false } }, "to generate the selector"),
    change({ spec: { manualSelector: null } }, "to generate the selector by default"),
  ]
}

function completions(): RequestStep[] {
  return [
    post(jobs, job({ completionMode: "Indexed", completions: 3, parallelism: 2 })),
    change({ spec: { completions: null } }, "away"),
    change({ spec: { completions: 2 } }, "to the parallelism"),
    change({ spec: { completions: 5 } }, "to another number"),
  ]
}

function indexes(): RequestStep[] {
  const texts = [
    "+1",
    "1_0",
    "01",
    "1-",
    "1-2-3",
    "10",
    "9223372036854775808",
    "9223372036854775807",
    "\u0001",
    "<é>\u2028",
  ]
  const status = (given: Json, label: string): RequestStep =>
    patch(`${jobs}/j/status?dryRun=All`, mergePatch, { status: given }, { label: `PATCH ${label}` })
  return [
    post(jobs, job({ completionMode: "Indexed", completions: 10, backoffLimitPerIndex: 1 })),
    ...texts.flatMap((text, index) => [
      status({ completedIndexes: text }, `completed ${index}`),
      status({ failedIndexes: text }, `failed ${index}`),
    ]),
  ]
}

const zones = [
  "UTC",
  "utc",
  "europe/berlin",
  "Europe/Berlin",
  "EUROPE/BERLIN",
  "Europe/Kyiv",
  "Asia/Calcutta",
  "Asia/Kolkata",
  "America/Argentina/ComodRivadavia",
  "America/Port-au-Prince",
  "Etc/GMT+5",
  "EST5EDT",
  "GMT-0",
  "NZ-CHAT",
  "UTC0",
  "+00:00",
  "Europe/Berlin ",
  "Europe/Nowhere",
]

const inZone = (timeZone: string): RequestStep =>
  post(
    `${batch}/cronjobs?dryRun=All`,
    {
      metadata: { name: "c" },
      spec: { schedule: "* * * * *", timeZone, jobTemplate: { spec: { template: { spec: podSpec } } } },
    },
    { label: `POST in ${timeZone}` },
  )
