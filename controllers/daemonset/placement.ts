// Which nodes a DaemonSet wants a pod on, and what such a pod looks like. Pure.
// Source: k8s.io/kubernetes/pkg/controller/daemon/{daemon_controller,util/daemonset_util}.go.

import type { DaemonSet } from "./daemonset.ts"
import { matchesNode, tolerates, type Toleration } from "../../apimachinery/node-selection.ts"
import type { Node, Pod, PodTemplateSpec } from "../../apimachinery/object.ts"
import { controllerReference, podFromTemplate } from "../pods/pod-control.ts"

export const daemonSetKind = { apiVersion: "apps/v1", kind: "DaemonSet" } as const

type Spec = NonNullable<Pod["spec"]>

/** A daemon runs on nodes in whatever state. */
function tolerationsOf(spec: Spec): Toleration[] {
  const always: [string, string][] = [
    ["node.kubernetes.io/not-ready", "NoExecute"],
    ["node.kubernetes.io/unreachable", "NoExecute"],
    ["node.kubernetes.io/disk-pressure", "NoSchedule"],
    ["node.kubernetes.io/memory-pressure", "NoSchedule"],
    ["node.kubernetes.io/pid-pressure", "NoSchedule"],
    ["node.kubernetes.io/unschedulable", "NoSchedule"],
    ...(spec.hostNetwork === true
      ? [["node.kubernetes.io/network-unavailable", "NoSchedule"] satisfies [string, string]]
      : []),
  ]
  const added = always.map(([key, effect]) => ({ key, operator: "Exists", effect }))
  const isPresent = (wanted: Toleration): boolean =>
    (spec.tolerations ?? []).some(
      ({ key, effect, operator }) => key === wanted.key && effect === wanted.effect && operator === "Exists",
    )
  return [...(spec.tolerations ?? []), ...added.filter((toleration) => !isPresent(toleration))]
}

/** The pod for one node: the scheduler binds it, but has only that node to choose from. */
export function daemonPod(set: DaemonSet, template: PodTemplateSpec | undefined, node: string, hash: string): Pod {
  const pod = podFromTemplate(template, set, controllerReference(set, daemonSetKind))
  const generation = set.metadata.annotations?.["deprecated.daemonset.template.generation"]
  pod.metadata.labels = {
    ...pod.metadata.labels,
    "controller-revision-hash": hash,
    ...(generation === undefined ? {} : { "pod-template-generation": generation }),
  }
  const spec = { ...pod.spec } as Spec
  const matchFields = [{ key: "metadata.name", operator: "In", values: [node] }]
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const terms = required?.nodeSelectorTerms ?? [{}]
  spec.affinity = {
    ...spec.affinity,
    nodeAffinity: {
      ...spec.affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: terms.map((term) => ({ ...term, matchFields })),
      },
    },
  }
  spec.tolerations = tolerationsOf(spec)
  return { ...pod, spec }
}

/** The node a pod is on or was made for. */
export function nodeOf(pod: Pod): string | undefined {
  if (pod.spec?.nodeName !== undefined && pod.spec.nodeName !== "") return pod.spec.nodeName
  const [term] =
    pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  return term?.matchFields?.find(({ key }) => key === "metadata.name")?.values?.[0]
}

/** run: a new pod is wanted; stay: one that is there may go on. */
export function placement(set: DaemonSet, node: Node): { run: boolean; stay: boolean } {
  const spec = set.spec?.template?.spec
  if (spec === undefined || !fits(spec, node)) return { run: false, stay: false }
  const tolerations = tolerationsOf(spec)
  const untolerated = (node.spec?.taints ?? []).filter((taint) => !tolerates(tolerations, taint))
  return {
    run: !untolerated.some(({ effect }) => effect === "NoSchedule" || effect === "NoExecute"),
    stay: !untolerated.some(({ effect }) => effect === "NoExecute"),
  }
}

function fits(spec: Spec, node: Node): boolean {
  if (spec.nodeName !== undefined && spec.nodeName !== "" && spec.nodeName !== node.metadata.name) return false
  return matchesNode(spec, node)
}
