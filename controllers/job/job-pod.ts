// Builds a Job's pods. Pure. Source: k8s.io/kubernetes/pkg/controller/job/indexed_job_utils.go.

import type { Container, Job, Pod } from "../../apimachinery/object.ts"
import { controllerReference, podFromTemplate } from "../pods/pod-control.ts"
import { evaluateFailure } from "./failure-policy.ts"
import { indexLabel } from "./indexes.ts"
import { trackingFinalizer } from "./tracking.ts"

const indexVariable = "JOB_COMPLETION_INDEX"
const failuresAnnotation = "batch.kubernetes.io/job-index-failure-count"
const ignoredFailuresAnnotation = "batch.kubernetes.io/job-index-ignored-failure-count"
/** Maximum length of the prefix of a pod's generated name, which leaves room for the random suffix. */
const maxPrefix = 58

/** `replaced`: the failed pod with the same index that the new pod replaces; its count of failures is taken over. */
export function jobPod(job: Job, index: number | undefined, replaced?: Pod): Pod {
  const { name = "" } = job.metadata
  const reference = controllerReference(job, { apiVersion: "batch/v1", kind: "Job" })
  const pod = podFromTemplate(job.spec?.template, job, reference)
  const finalizers = new Set([...(pod.metadata.finalizers ?? []), trackingFinalizer])
  const metadata = { ...pod.metadata, finalizers: [...finalizers] }
  if (index === undefined) return { ...pod, metadata }
  const text = String(index)
  const spec = { ...pod.spec } as NonNullable<Pod["spec"]>
  spec.hostname = `${name}-${text}`
  spec.containers = spec.containers.map(withIndex)
  if (spec.initContainers !== undefined) spec.initContainers = spec.initContainers.map(withIndex)
  return {
    ...pod,
    metadata: {
      ...metadata,
      generateName: `${name.slice(0, maxPrefix - text.length - 2)}-${text}-`,
      labels: { ...metadata.labels, [indexLabel]: text },
      annotations: { ...metadata.annotations, [indexLabel]: text, ...failureCounts(job, replaced) },
    },
    spec,
  }
}

/** Number of earlier failures of the pod's index. Invalid text counts as 0. */
export const indexFailures = (pod: Pod): number => countOf(pod, failuresAnnotation)
export const allIndexFailures = (pod: Pod): number => indexFailures(pod) + countOf(pod, ignoredFailuresAnnotation)

function countOf(pod: Pod, annotation: string): number {
  const text = pod.metadata.annotations?.[annotation] ?? ""
  return /^\d{1,10}$/.test(text) && Number(text) < 2 ** 31 ? Number(text) : 0
}

function failureCounts(job: Job, replaced: Pod | undefined): Record<string, string> {
  if (job.spec?.backoffLimitPerIndex === undefined) return {}
  if (replaced === undefined) return { [failuresAnnotation]: "0" }
  const isIgnored = evaluateFailure(job, replaced).action === "Ignore"
  const ignored = countOf(replaced, ignoredFailuresAnnotation) + (isIgnored ? 1 : 0)
  return {
    [failuresAnnotation]: String(indexFailures(replaced) + (isIgnored ? 0 : 1)),
    ...(ignored === 0 ? {} : { [ignoredFailuresAnnotation]: String(ignored) }),
  }
}

function withIndex(container: Container): Container {
  if (container.env?.some(({ name }) => name === indexVariable) === true) return container
  const fieldRef = { fieldPath: `metadata.labels['${indexLabel}']` }
  return { ...container, env: [...(container.env ?? []), { name: indexVariable, valueFrom: { fieldRef } }] }
}
