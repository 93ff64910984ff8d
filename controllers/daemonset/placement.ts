// The nodes on which a DaemonSet needs pods, and the definition of such a pod. Pure.
// Source: k8s.io/kubernetes/pkg/controller/daemon/{daemon_controller,util/daemonset_util}.go.

import type { DaemonSet } from "./types.ts"
import { matchesNode, toleranceOf, type Toleration } from "../../apimachinery/core/node-selection.ts"
import type { Node, Pod, PodTemplateSpec } from "../../apimachinery/object.ts"
import { revisionHashLabel } from "../history/revisions.ts"
import { controllerReference, podFromTemplate } from "../pods/pod-control.ts"

export const daemonSetKind = { apiVersion: "apps/v1", kind: "DaemonSet" } as const

export const generationLabel = "pod-template-generation"

/** Number of templates that the set has had. */
export function generationOf(set: DaemonSet): string | undefined {
  const generation = set.metadata.annotations?.["deprecated.daemonset.template.generation"]
  return generation !== undefined && /^\d+$/.test(generation) ? generation : undefined
}

type Spec = NonNullable<Pod["spec"]>

/** Daemon pods run on nodes in any state. */
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
  // Replaces a toleration of the template for the same taint, because it may have tolerationSeconds.
  return always.reduce<Toleration[]>((tolerations, [key, effect]) => {
    const added = { key, operator: "Exists", effect }
    const isSame = (other: Toleration): boolean =>
      other.key === key && other.effect === effect && other.operator === "Exists"
    const replaced = tolerations.map((other) => (isSame(other) ? added : other))
    return tolerations.some(isSame) ? replaced : [...tolerations, added]
  }, spec.tolerations ?? [])
}

/** The pod for one node. The scheduler binds it, but can choose only that node. */
export function daemonPod(set: DaemonSet, template: PodTemplateSpec | undefined, node: string, hash: string): Pod {
  const pod = podFromTemplate(template, set, controllerReference(set, daemonSetKind))
  const generation = generationOf(set)
  pod.metadata.labels = {
    ...pod.metadata.labels,
    [revisionHashLabel]: hash,
    ...(generation === undefined ? {} : { [generationLabel]: generation }),
  }
  const spec = { ...pod.spec } as Spec
  // Replaces the template's terms, which were evaluated when the node was chosen.
  const matchFields = [{ key: "metadata.name", operator: "In", values: [node] }]
  spec.affinity = {
    ...spec.affinity,
    nodeAffinity: {
      ...spec.affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
    },
  }
  spec.tolerations = tolerationsOf(spec)
  return { ...pod, spec }
}

/** The node on which a pod runs, or for which it was created. */
export function nodeOf(pod: Pod): string | undefined {
  if (pod.spec?.nodeName !== undefined && pod.spec.nodeName !== "") return pod.spec.nodeName
  const terms =
    pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const fields = terms.flatMap(({ matchFields }) => matchFields ?? [])
  return fields.find(({ key, operator }) => key === "metadata.name" && operator === "In")?.values?.[0]
}

/** A node, or a deleted node, and the set's pods on it. */
export interface Place {
  node: string
  isThere: boolean
  /** The node needs a pod. */
  run: boolean
  /** An existing pod may continue. */
  stay: boolean
  /** The pods that count: first those bound to the node, then those not bound yet; oldest first. */
  pods: Pod[]
}

/** On each of the nodes. */
export function placementOf(set: DaemonSet): (node: Node) => Pick<Place, "run" | "stay"> {
  const spec = set.spec?.template?.spec
  if (spec === undefined) return () => ({ run: false, stay: false })
  const tolerationOf = toleranceOf(tolerationsOf(spec))
  return (node) => {
    if (!fits(spec, node)) return { run: false, stay: false }
    const untolerated = (node.spec?.taints ?? []).filter((taint) => tolerationOf(taint) === undefined)
    return {
      run: !untolerated.some(({ effect }) => effect === "NoSchedule" || effect === "NoExecute"),
      stay: !untolerated.some(({ effect }) => effect === "NoExecute"),
    }
  }
}

function fits(spec: Spec, node: Node): boolean {
  if (spec.nodeName !== undefined && spec.nodeName !== "" && spec.nodeName !== node.metadata.name) return false
  return matchesNode(spec, node)
}
