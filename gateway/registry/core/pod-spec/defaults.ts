// Defaults of pods beyond those of templates (apimachinery/core/pod-defaults.ts), and fields that are dropped from both because their
// features are disabled by default.
// Source: k8s.io/kubernetes/pkg/apis/core/v1/defaults.go.

import { everyContainer } from "../../../../apimachinery/core/pod-defaults.ts"
import type { PodSpec } from "./types.ts"
import { defaultPodResources } from "./pod-resources.ts"

/** Drops fields of disabled features. Source: k8s.io/kubernetes/pkg/api/pod DropDisabledPodFields. */
export function dropDisabledOfPod(spec: PodSpec | undefined): void {
  if (spec === undefined) return
  delete (spec as { schedulingGroup?: unknown }).schedulingGroup
  for (const { projected } of spec.volumes ?? []) {
    for (const source of projected?.sources ?? []) {
      delete source.podCertificate
      delete source.clusterTrustBundle
    }
  }
  for (const container of everyContainer(spec)) {
    if (container.lifecycle?.stopSignal === undefined) continue
    delete container.lifecycle.stopSignal
    if (Object.keys(container.lifecycle).length === 0) delete container.lifecycle
  }
}

/** Defaults of pods that templates do not get. */
export function defaultPodOnly(spec: PodSpec): void {
  spec.enableServiceLinks ??= true
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    const { limits } = container.resources ?? {}
    if (limits !== undefined && container.resources !== undefined) {
      container.resources.requests = { ...limits, ...container.resources.requests }
    }
    if (spec.hostNetwork === true) {
      for (const port of container.ports ?? []) if (!port.hostPort) port.hostPort = port.containerPort
    }
  }
  defaultPodResources(spec)
}
