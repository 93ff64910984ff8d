// A kubelet's own Node: it must not attract pods that are meant for other nodes.

import type { Node } from "../../../../apimachinery/object.ts"
import { goQuote } from "../../../../apimachinery/go/quote.ts"
import { ownValue } from "../../../../apimachinery/schema/json-object.ts"
import { semanticEqual } from "../../../registry/validation/equality.ts"
import type { AdmissionAttributes } from "../../chain.ts"
import { objectAs, refuse } from "../refuse.ts"

export function restrictNode(name: string, attributes: AdmissionAttributes): void {
  const quoted = goQuote(name)
  if (attributes.name !== name)
    throw refuse(attributes, `node ${quoted} is not allowed to modify node ${goQuote(attributes.name)}`)
  if (attributes.operation === "CREATE") {
    const { metadata, spec } = objectAs<Node>(attributes)
    if (spec?.configSource !== undefined)
      throw refuse(attributes, `node ${quoted} is not allowed to create pods with a non-nil configSource`)
    const labels = forbiddenChanges(metadata.labels, {})
    if (labels !== "") throw refuse(attributes, `node ${quoted} is not allowed to set the following labels: ${labels}`)
  }
  if (attributes.operation === "UPDATE") restrictUpdate(quoted, attributes)
}

function restrictUpdate(quoted: string, attributes: AdmissionAttributes): void {
  const node = objectAs<Node>(attributes)
  const current = attributes.current as Node | undefined
  const source = node.spec?.configSource
  if (source !== undefined && !semanticEqual(source, current?.spec?.configSource))
    throw refuse(attributes, `node ${quoted} is not allowed to update configSource to a new non-nil configSource`)
  if (!semanticEqual(node.spec?.taints, current?.spec?.taints))
    throw refuse(attributes, `node ${quoted} is not allowed to modify taints`)
  if (!semanticEqual(node.metadata.ownerReferences, current?.metadata.ownerReferences))
    throw refuse(attributes, `node ${quoted} is not allowed to modify ownerReferences`)
  const labels = forbiddenChanges(node.metadata.labels, current?.metadata.labels)
  if (labels !== "") throw refuse(attributes, `is not allowed to modify labels: ${labels}`)
}

type Labels = Readonly<Record<string, string>> | undefined

function forbiddenChanges(labels: Labels = {}, before: Labels = {}): string {
  const keys = new Set([...Object.keys(labels), ...Object.keys(before)])
  return [...keys]
    .filter((key) => ownValue(labels, key) !== ownValue(before, key) && isForbidden(key))
    .sort()
    .join(", ")
}

/** Labels that kubelets set. Source: k8s.io/kubelet/pkg/apis/well_known_labels.go. */
const kubeletLabels: ReadonlySet<string> = new Set([
  "kubernetes.io/hostname",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
  "beta.kubernetes.io/instance-type",
  "node.kubernetes.io/instance-type",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
])

/** Nodes may set their own labels, but only some of Kubernetes', and none with which administrators separate nodes. */
function isForbidden(key: string): boolean {
  const slash = key.indexOf("/")
  const domain = slash < 0 ? "" : key.slice(0, slash)
  const isIn = (suffix: string): boolean => domain === suffix || domain.endsWith(`.${suffix}`)
  if (isIn("node-restriction.kubernetes.io")) return true
  if (!isIn("kubernetes.io") && !isIn("k8s.io")) return false
  return !kubeletLabels.has(key) && !isIn("kubelet.kubernetes.io") && !isIn("node.kubernetes.io")
}
