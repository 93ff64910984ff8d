// The pod a Job makes. Pure. Source: k8s.io/kubernetes/pkg/controller/job/indexed_job_utils.go.

import type { Container, Job, Pod } from "../../apimachinery/object.ts"
import { controllerReference, podFromTemplate } from "../pods/pod-control.ts"
import { indexLabel } from "./indexes.ts"
import { trackingFinalizer } from "./tracking.ts"

const indexVariable = "JOB_COMPLETION_INDEX"
/** A pod's generated name must leave room for its random end. */
const maxPrefix = 58

export function jobPod(job: Job, index: number | undefined): Pod {
  const { name = "" } = job.metadata
  const reference = controllerReference(job, { apiVersion: "batch/v1", kind: "Job" })
  const pod = podFromTemplate(job.spec?.template, job, reference)
  const metadata = { ...pod.metadata, finalizers: [...(pod.metadata.finalizers ?? []), trackingFinalizer] }
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
      annotations: { ...metadata.annotations, [indexLabel]: text },
    },
    spec,
  }
}

function withIndex(container: Container): Container {
  if (container.env?.some(({ name }) => name === indexVariable) === true) return container
  const fieldRef = { fieldPath: `metadata.labels['${indexLabel}']` }
  return { ...container, env: [...(container.env ?? []), { name: indexVariable, valueFrom: { fieldRef } }] }
}
