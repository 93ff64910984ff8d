// Steps that scenarios of Jobs have in common.

import type { Step } from "../scenario.ts"
import { container, job, jobHas } from "./steps.ts"

export const patched = (spec: object): Step => ({ patch: ["jobs", "work"], with: { spec } })
export const index = (one: number): Record<string, string> => ({
  "batch.kubernetes.io/job-completion-index": String(one),
})
export const ended = (type: "Complete" | "Failed"): Step => jobHas({ conditions: [{ type, status: "True" }] })
export const pod = (more: object = {}, metadata: object = {}): object => ({
  template: { metadata, spec: { restartPolicy: "Never", containers: [container("one")], ...more } },
})
export const held = pod({}, { finalizers: ["example.com/hold"] })
export const indexed = (count: number, more: object = {}): Step =>
  job({ completionMode: "Indexed", completions: count, parallelism: count, ...more })
