// Network policies, where the super cluster's administrator lets tenants have them: the network of the nodes knows the policies
// of the super cluster only. Pods keep their labels, and the policy lies in their super namespace, so that only namespaces are
// translated; a selector of them reaches no other tenant.
//
// Policies add up: one of a tenant's can allow its pods what the administrator's own, in the same namespace, does not. So it is
// the administrator who says whether there are any (settings.networkPolicies).

import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import type { LabelSelector } from "../../apimachinery/labels.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import { networkPolicies } from "../../client/resources.ts"
import type { Tenant } from "../../client/tenants.ts"
import { mergeDiff } from "../conversion/equality.ts"
import { isCopiedLabel } from "../conversion/metadata.ts"
import { namespaceNameLabel, selectedKeys, superNamespaceSelector } from "../conversion/namespace-selector.ts"
import type { ResourceSync } from "./resource-sync.ts"

interface Peer {
  podSelector?: LabelSelector
  namespaceSelector?: LabelSelector
  ipBlock?: object
}

interface Rule {
  ports?: object[]
  /** Of ingress. */
  from?: Peer[]
  /** Of egress. */
  to?: Peer[]
}

interface Spec {
  podSelector?: LabelSelector
  policyTypes?: string[]
  ingress?: Rule[]
  egress?: Rule[]
}

export type NetworkPolicy = KubeObject & { spec?: Spec }

export const networkPolicy: ResourceSync<NetworkPolicy> = {
  resource: networkPolicies,
  kind: "NetworkPolicy",
  toSuper: ({ spec }, { tenant }) => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: {},
    spec: superSpec(spec, tenant),
  }),
  changed({ spec }, superObject, { tenant }) {
    const desired = withoutEmpty(superSpec(spec, tenant))
    const current = withoutEmpty(superObject.spec)
    return equalIgnoringNulls(desired, current) ? [] : [{ patch: { spec: mergeDiff(current, desired) } }]
  },
  // Copies from a time when they were allowed go.
  outdated: (_object, _superObject, { settings }) => settings.networkPolicies === "deny",
  unsupported: ({ spec }, { tenant, settings }) =>
    settings.networkPolicies === "deny"
      ? "network policies of tenants are not copied to the super cluster, and nothing enforces this one; ask the administrator to allow them"
      : unknownLabel(spec, tenant),
}

function superSpec({ podSelector = {}, policyTypes, ingress, egress }: Spec = {}, tenant: Tenant): Spec {
  const peers = (list: Peer[] | undefined): Peer[] | undefined => list?.map((peer) => superPeer(peer, tenant))
  const rule = ({ ports, from, to }: Rule): Rule => defined({ ports, from: peers(from), to: peers(to) })
  return defined({ podSelector, policyTypes, ingress: ingress?.map(rule), egress: egress?.map(rule) })
}

/** Only what is known here: a peer of another sort would not be confined to the tenant. */
function superPeer({ podSelector, namespaceSelector, ipBlock }: Peer, { clusterKey }: Tenant): Peer {
  const inSuper = namespaceSelector && superNamespaceSelector(namespaceSelector, clusterKey)
  return defined({ podSelector, namespaceSelector: inSuper, ipBlock })
}

/** Labels that the copies do not have would select nothing there, or everything. */
function unknownLabel({ podSelector, ingress = [], egress = [] }: Spec = {}, tenant: Tenant): string | undefined {
  const find = (path: string, kind: "Pod" | "Namespace", selector: LabelSelector = {}): string | undefined => {
    const isKnown = (key: string): boolean =>
      isCopiedLabel(kind, key, tenant) || (kind === "Namespace" && key === namespaceNameLabel)
    const key = selectedKeys(selector).find((one) => !isKnown(one))
    return key && `${path}: the label "${key}" is not copied to the super cluster; select by another one`
  }
  const lists: [string, Peer[] | undefined][] = [
    ...ingress.map(({ from }, index): [string, Peer[] | undefined] => [`spec.ingress[${index}].from`, from]),
    ...egress.map(({ to }, index): [string, Peer[] | undefined] => [`spec.egress[${index}].to`, to]),
  ]
  for (const [path, peers = []] of lists) {
    for (const [index, peer] of peers.entries()) {
      const message =
        find(`${path}[${index}].podSelector`, "Pod", peer.podSelector) ??
        find(`${path}[${index}].namespaceSelector`, "Namespace", peer.namespaceSelector)
      if (message !== undefined) return message
    }
  }
  return find("spec.podSelector", "Pod", podSelector)
}

const defined = <T extends object>(value: T): { [Key in keyof T]: Exclude<T[Key], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as never

/** Lists and labels that servers write or leave out when there are none. Empty selectors stay: they select everything. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (typeof value !== "object" || value === null) return value
  const isEmpty = ([name, field]: [string, unknown]): boolean =>
    Array.isArray(field) ? field.length === 0 : name === "matchLabels" && Object.keys(field ?? {}).length === 0
  const fields = Object.entries(value).filter((one) => !isEmpty(one))
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutEmpty(field)]))
}
