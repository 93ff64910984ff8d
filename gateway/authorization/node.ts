// What kubelets may do: they read what the pods on their node use, and write their node and its pods. NodeRestriction
// (admission/plugins/node-restriction) limits the contents of what they write. Source:
// k8s.io/kubernetes/plugin/pkg/auth/authorizer/node/node_authorizer.go.

import { dictionary } from "../../apimachinery/dictionary.ts"
import { parseFieldSelector } from "../../apimachinery/fields.ts"
import { goQuote } from "../../apimachinery/go/quote.ts"
import { ownValue } from "../../apimachinery/schema/json-object.ts"
import { StatusError } from "../../apimachinery/status.ts"
import { nodeOfUser } from "./node-identity.ts"
import { type RelationReader, relations } from "./node-relations.ts"
import { ruleAllows } from "./rules.ts"
import type { Attributes, Decision, PolicyRule } from "./types.ts"

interface NodeParts {
  reader: RelationReader
  /** Those of the cluster role system:node, which apply to the resources that are not limited further. */
  rules: readonly PolicyRule[]
}

export type NodeAuthorizer = (attributes: Attributes) => Decision | Promise<Decision>

interface Asked {
  node: string
  attributes: Attributes
  reader: RelationReader
}

type Judge = (asked: Asked) => Decision | Promise<Decision>

const allowed: Decision = { decision: "Allow", reason: "" }
const noOpinion = (reason = ""): Decision => ({ decision: "NoOpinion", reason })

/** No opinion on users who are no nodes. */
export function createNodeAuthorizer({ reader, rules }: NodeParts): NodeAuthorizer {
  return (attributes) => {
    const node = nodeOfUser(attributes.user)
    if (node === undefined) return noOpinion()
    if (node === "") return noOpinion(`unknown node for user ${goQuote(attributes.user.name)}`)
    const { isResourceRequest, group, resource } = attributes
    const judge = isResourceRequest ? ownValue(judges, group === "" ? resource : `${resource}.${group}`) : undefined
    if (judge !== undefined) return judge({ node, attributes, reader })
    return rules.some((rule) => ruleAllows(rule, attributes)) ? allowed : noOpinion()
  }
}

const readVerbs: ReadonlySet<string> = new Set(["get", "list", "watch"])
const ownVerbs: ReadonlySet<string> = new Set(["get", "create", "update", "patch", "delete"])
const updateVerbs: ReadonlySet<string> = new Set(["update", "patch"])

const judges: Readonly<Record<string, Judge>> = dictionary({
  secrets: readOf("secrets"),
  configmaps: readOf("configmaps"),
  persistentvolumeclaims: (asked) =>
    asked.attributes.subresource === "status" ? updateOfClaimStatus(asked) : getOf("persistentvolumeclaims")(asked),
  persistentvolumes: getOf("persistentvolumes"),
  "resourceclaims.resource.k8s.io": getOf("resourceclaims"),
  "volumeattachments.storage.k8s.io": getOf("volumeattachments"),
  serviceaccounts: ofServiceAccount,
  "leases.coordination.k8s.io": ofLease,
  "csinodes.storage.k8s.io": ofCSINode,
  "resourceslices.resource.k8s.io": ofResourceSlice,
  nodes: ofNode,
  pods: ofPod,
  // Upstream's feature gate for it is disabled.
  "podcertificaterequests.certificates.k8s.io": () => noOpinion(),
})

type Related = keyof typeof relations

async function related(kind: Related, { node, attributes, reader }: Asked): Promise<Decision> {
  const { namespace, name } = attributes
  if (name === "") return noOpinion("No Object name found")
  return (await relations[kind](reader, node, namespace, name))
    ? allowed
    : noOpinion(`no relationship found between node '${node}' and this object`)
}

function getOf(kind: Related): Judge {
  return (asked) => {
    const { verb, subresource } = asked.attributes
    if (verb !== "get") return noOpinion("can only get individual resources of this type")
    return subresource === "" ? related(kind, asked) : noOpinion("cannot get subresource")
  }
}

/** A list or a watch of a single object, by its name. */
function readOf(kind: Related): Judge {
  return (asked) => {
    const { verb, subresource, namespace } = asked.attributes
    if (!readVerbs.has(verb)) return noOpinion("can only read resources of this type")
    if (subresource !== "") return noOpinion("cannot read subresource")
    return namespace === "" ? noOpinion("can only read namespaced object of this type") : related(kind, asked)
  }
}

function updateOfClaimStatus(asked: Asked): Decision | Promise<Decision> {
  return updateVerbs.has(asked.attributes.verb)
    ? related("persistentvolumeclaims", asked)
    : noOpinion("can only get/update/patch this type")
}

function ofServiceAccount(asked: Asked): Decision | Promise<Decision> {
  const { verb, subresource, name } = asked.attributes
  if (verb === "get" && subresource === "") return readOf("serviceaccounts")(asked)
  if (verb !== "create" || name === "") return noOpinion("can only create tokens for individual service accounts")
  if (subresource !== "token") return noOpinion("can only create token subresource of serviceaccount")
  return related("serviceaccounts", asked)
}

/** On create the name is not known here; NodeRestriction checks it. */
const isOwn = ({ node, attributes: { verb, name } }: Asked): boolean => verb === "create" || name === node

const leaseNamespace = "kube-node-lease"

function ofLease(asked: Asked): Decision {
  const { verb, namespace } = asked.attributes
  if (!ownVerbs.has(verb)) return noOpinion("can only get, create, update, patch, or delete a node lease")
  if (namespace !== leaseNamespace)
    return noOpinion(`can only access leases in the ${goQuote(leaseNamespace)} system namespace`)
  return isOwn(asked) ? allowed : noOpinion("can only access node lease with the same name as the requesting node")
}

function ofCSINode(asked: Asked): Decision {
  const { verb, subresource } = asked.attributes
  if (!ownVerbs.has(verb)) return noOpinion("can only get, create, update, patch, or delete a CSINode")
  if (subresource !== "") return noOpinion("cannot authorize CSINode subresources")
  return isOwn(asked) ? allowed : noOpinion("can only access CSINode with the same name as the requesting node")
}

function ofResourceSlice(asked: Asked): Decision | Promise<Decision> {
  const { verb, subresource } = asked.attributes
  if (subresource !== "") return noOpinion("cannot authorize ResourceSlice subresources")
  if (verb === "create") return allowed // NodeRestriction checks its node
  if (ownVerbs.has(verb)) return related("resourceslices", asked)
  if (!["watch", "list", "deletecollection"].includes(verb)) {
    const verbs = "get, watch, list, create, update, patch, delete, deletecollection"
    return noOpinion(`only the following verbs are allowed for a ResourceSlice: ${verbs}`)
  }
  return selectsNode(asked)
    ? allowed
    : noOpinion("can only list/watch/deletecollection resourceslices with nodeName field selector")
}

function ofNode({ node, attributes: { verb, subresource, name } }: Asked): Decision {
  if (subresource === "status") return updateVerbs.has(verb) ? allowed : noOpinion()
  if (subresource !== "") return noOpinion()
  if (verb === "create" || updateVerbs.has(verb)) return allowed
  if (!readVerbs.has(verb)) return noOpinion()
  if (name === node) return allowed
  return name === ""
    ? noOpinion(`node '${node}' cannot read all nodes, only its own Node object`)
    : noOpinion(`node '${node}' cannot read '${name}', only its own Node object`)
}

function ofPod(asked: Asked): Decision | Promise<Decision> {
  const { verb, subresource, name } = asked.attributes
  if (subresource === "status") return updateVerbs.has(verb) ? allowed : noOpinion()
  if (subresource === "eviction") return verb === "create" ? allowed : noOpinion()
  if (subresource !== "") return noOpinion()
  if (verb === "get") return related("pods", asked)
  if (verb === "create" || verb === "delete") return allowed // of mirror pods
  if (!readVerbs.has(verb)) return noOpinion()
  if (selectsNode(asked)) return allowed
  return name === "" ? noOpinion("can only list/watch pods with spec.nodeName field selector") : related("pods", asked)
}

/** A selector that cannot be parsed selects nothing. */
function selectsNode({ node, attributes: { fieldSelector = "" } }: Asked): boolean {
  try {
    return parseFieldSelector(fieldSelector).requirements.some(
      ({ field, equal, value }) => field === "spec.nodeName" && equal && value === node,
    )
  } catch (error) {
    if (error instanceof StatusError) return false
    throw error
  }
}
