// NetworkPolicies. They are stored and synced; nothing here enforces them. Source: k8s.io/kubernetes/pkg/apis/networking.

import type * as models from "@kubernetes/client-node"
import { parseLoosePrefix } from "../../../../apimachinery/addresses.ts"
import {
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import type { KubeObject, Wire } from "../../../../apimachinery/object.ts"
import { hasGivenEmpty } from "../../../../apimachinery/schema/decode/given.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { isStrictSubset, legacyNetwork, networkWarnings } from "../../validation/addresses.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { type LabelSelector, validateLabelSelector } from "../../validation/selectors.ts"
import { messages, portNameRule, portNumber } from "../../validation/values.ts"

type Port = Wire<models.V1NetworkPolicyPort>
interface Peer {
  podSelector?: LabelSelector
  namespaceSelector?: LabelSelector
  ipBlock?: { cidr?: string; except?: string[] }
}
interface Spec {
  podSelector?: LabelSelector
  policyTypes?: string[]
  ingress?: { ports?: Port[]; from?: Peer[] }[]
  egress?: { ports?: Port[]; to?: Peer[] }[]
}
type NetworkPolicy = KubeObject & { spec?: Spec }

const path = FieldPath.root("spec")
const types = ["Ingress", "Egress"]

const strategy: Strategy<NetworkPolicy> = {
  default(policy) {
    const spec = (policy.spec ??= {})
    spec.podSelector ??= {}
    if ((spec.policyTypes ?? []).length === 0) {
      spec.policyTypes = (spec.egress ?? []).length > 0 ? ["Ingress", "Egress"] : ["Ingress"]
    }
    for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
      for (const port of rule.ports ?? []) port.protocol ??= "TCP"
    }
  },
  // Upstream compares the objects in memory, where an empty list differs from a missing one.
  specChanged: ({ spec }, { spec: current }) => hasGivenEmpty(spec) || !semanticEqual(spec, current),
  validate: (_ctx, policy) => validate(policy.spec ?? {}, new Set()),
  validateUpdate: (_ctx, policy, current) => validate(policy.spec ?? {}, rangesOf(current)),
  warnings: (_ctx, policy) => blocksOf(policy).flatMap(([at, block]) => blockWarnings(at, block)),
}

export const networkPolicies: KindExtension = { strategy }

/** `kept`: the ranges before the update. */
function validate(spec: Spec, kept: ReadonlySet<string>): FieldError[] {
  const errors = validateLabelSelector(path.child("podSelector"), spec.podSelector)
  for (const [index, rule] of (spec.ingress ?? []).entries()) {
    errors.push(...validateRule(path.child("ingress").index(index), rule.ports, "from", rule.from, kept))
  }
  for (const [index, rule] of (spec.egress ?? []).entries()) {
    errors.push(...validateRule(path.child("egress").index(index), rule.ports, "to", rule.to, kept))
  }
  const wanted = spec.policyTypes ?? []
  if (wanted.length > types.length) {
    errors.push(invalidValue(path.child("policyTypes"), wanted, "may not specify more than two policyTypes"))
    return errors
  }
  for (const [index, type] of wanted.entries()) {
    if (!types.includes(type)) errors.push(notSupported(path.child("policyTypes").index(index), type, types))
  }
  return errors
}

function validateRule(
  at: FieldPath,
  ports: Port[] | undefined,
  word: string,
  peers: Peer[] | undefined,
  kept: ReadonlySet<string>,
): FieldError[] {
  return [
    ...(ports ?? []).flatMap((port, index) => validatePort(at.child("ports").index(index), port)),
    ...(peers ?? []).flatMap((peer, index) => validatePeer(at.child(word).index(index), peer, kept)),
  ]
}

function validatePort(at: FieldPath, port: Port): FieldError[] {
  const errors: FieldError[] = []
  const protocols = ["TCP", "UDP", "SCTP"]
  if (port.protocol !== undefined && !protocols.includes(port.protocol)) {
    errors.push(notSupported(at.child("protocol"), port.protocol, protocols))
  }
  const number = port.port
  const { endPort } = port
  const end = at.child("endPort")
  if (typeof number === "number") {
    errors.push(...portNumber(at.child("port"), number))
    if (endPort === undefined) return errors
    if (endPort < number) errors.push(invalidValue(end, number, "must be greater than or equal to `port`"))
    return [...errors, ...portNumber(end, endPort)]
  }
  if (endPort !== undefined) {
    const why = number === undefined ? "`port` is not specified" : "`port` is non-numeric"
    errors.push(invalidValue(end, endPort, `may not be specified when ${why}`))
  }
  return number === undefined ? errors : [...errors, ...messages(at.child("port"), number, portNameRule(number))]
}

function validatePeer(at: FieldPath, peer: Peer, kept: ReadonlySet<string>): FieldError[] {
  const errors = [
    ...validateLabelSelector(at.child("podSelector"), peer.podSelector),
    ...validateLabelSelector(at.child("namespaceSelector"), peer.namespaceSelector),
  ]
  const selects = peer.podSelector !== undefined || peer.namespaceSelector !== undefined
  if (peer.ipBlock === undefined) return selects ? errors : [...errors, required(at, "must specify a peer")]
  const block = at.child("ipBlock")
  if (peer.ipBlock.cidr) {
    errors.push(...legacyNetwork(block.child("cidr"), peer.ipBlock.cidr, kept))
    for (const [index, except] of (parseLoosePrefix(peer.ipBlock.cidr) ? (peer.ipBlock.except ?? []) : []).entries()) {
      const place = block.child("except").index(index)
      errors.push(...legacyNetwork(place, except, kept))
      if (!isStrictSubset(except, peer.ipBlock.cidr)) {
        errors.push(invalidValue(place, except, "must be a strict subset of `cidr`"))
      }
    }
  } else errors.push(required(block.child("cidr")))
  if (selects) errors.push(forbiddenField(at, "may not specify both ipBlock and another peer"))
  return errors
}

/** All ranges of the object before the update, which remain valid. */
function rangesOf(policy: NetworkPolicy): Set<string> {
  return new Set(blocksOf(policy).flatMap(([, { cidr, except = [] }]) => [...(cidr ? [cidr] : []), ...except]))
}

type Block = NonNullable<Peer["ipBlock"]>

function blocksOf({ spec }: NetworkPolicy): [FieldPath, Block][] {
  const of = (at: FieldPath, peers: readonly Peer[] = []): [FieldPath, Block][] =>
    peers.flatMap(({ ipBlock }, index) => (ipBlock === undefined ? [] : [[at.index(index).child("ipBlock"), ipBlock]]))
  return [
    ...(spec?.ingress ?? []).flatMap(({ from }, index) => of(path.child("ingress").index(index).child("from"), from)),
    ...(spec?.egress ?? []).flatMap(({ to }, index) => of(path.child("egress").index(index).child("to"), to)),
  ]
}

function blockWarnings(at: FieldPath, { cidr, except = [] }: Block): string[] {
  return [
    ...networkWarnings(at.child("cidr"), cidr ?? ""),
    ...except.flatMap((range, index) => networkWarnings(at.child("except").index(index), range)),
  ]
}
