// What every control plane starts with: the objects a fresh kube-apiserver makes, and those its controllers add at once to
// the namespaces that are always there. They are encoded once for all control planes; what differs (uid, time) is put in
// when an object is read.

import { hash } from "node:crypto"
import { printGroupVersion, type KubeObject } from "../../apimachinery/object.ts"
import { bootstrapObjects, builtInResources } from "../../apimachinery/schema/facts.ts"
import { matches, selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import { baseRevision } from "../../storage/base-layer.ts"
import type { BaseLayer } from "../../storage/types.ts"
import { frontProxyName } from "../aggregation/front-proxy.ts"
import { storageKey, storagePrefixOf } from "../registry/keys.ts"
import { deepFreeze } from "../../apimachinery/freeze.ts"
import { type BornObject, encodeStored } from "../registry/value.ts"
import type { PolicyRule } from "../authorization/types.ts"

/** Their places in the encoded objects; no object contains them by itself. */
const places = {
  uid: "00000000-0000-4000-8000-00000000706f",
  time: "1970-01-01T00:00:00Z",
  day: "1970-01-00",
  clientAuthority: "polyplane-client-authority",
  frontProxyAuthority: "polyplane-front-proxy-authority",
} as const
type Place = keyof typeof places
const placeNames = Object.keys(places) as Place[]

export interface Owner {
  uid: string
  createdAt: string
  /** PEM, of those who sign its clients' certificates; asked when the object that names them is read. */
  authorities?: () => { client: string; frontProxy: string }
}

export interface Bootstrap {
  /** For one control plane. */
  layer(owner: Owner): BaseLayer
  /** The object of a key, without uid and time: shared, not to be changed. */
  object(key: string): KubeObject | undefined
  /** What a control plane's object of a key is given as its uid. */
  uid(owner: string, key: string): string
}

interface Template {
  object: KubeObject
  /** Deeply frozen, but for what is filled in; undefined: more than uid and time of creation is. */
  shared: KubeObject | undefined
  /** By the words that were looked for: {@link BornObject.mentions}. */
  mentions: WeakMap<readonly Buffer[], boolean>
  /** The encoded object, cut where uid, time and day go. */
  pieces: readonly Buffer[]
  places: readonly Place[]
}

/** Objects of one tenant that are kept as they are made for it: a namespace or two, and what lists read is not worth more. */
const maxRecent = 4

/** `certificateAuthority`: of the gateway, which pods trust. `serviceRanges`: what Services' addresses are of. */
export function createBootstrap(certificateAuthority: string, serviceRanges: readonly string[]): Bootstrap {
  const prefixes = new Map(
    builtInResources().map((facts) => [
      `${printGroupVersion(facts)}/${facts.kind}`,
      storagePrefixOf(facts.group, facts.resource),
    ]),
  )
  const templates = new Map<string, Template>()
  for (const object of [
    ...withAggregatedRules(bootstrapObjects()).map(withTimes),
    ...perNamespace(certificateAuthority),
    tokenTracking,
    extensionAuthentication,
    ...(serviceRanges.length === 0 ? [] : [serviceCIDR(serviceRanges)]),
  ]) {
    const { apiVersion, kind, metadata } = object
    const prefix = prefixes.get(`${apiVersion}/${kind}`)
    if (prefix !== undefined)
      templates.set(storageKey(prefix, metadata.namespace ?? "", metadata.name ?? ""), template(object))
  }
  const keys = [...templates.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return {
    layer(owner) {
      // Every write asks for its namespace.
      const recent = new Map<string, Uint8Array>()
      return {
        keys,
        has: (key) => templates.has(key),
        known(key) {
          const found = templates.get(key)
          return found?.shared === undefined ? undefined : born(found, found.shared, owner, key)
        },
        value(key) {
          const found = templates.get(key)
          if (found === undefined) return undefined
          let value = recent.get(key)
          if (value === undefined) {
            if (recent.size === maxRecent) recent.clear()
            recent.set(key, (value = fill(found, derivedUid(owner.uid, key), owner)))
          }
          return value
        },
      }
    },
    object: (key) => templates.get(key)?.object,
    uid: derivedUid,
  }
}

/** What the root-ca publisher and the service-account controller make in each namespace. */
function perNamespace(certificateAuthority: string): KubeObject[] {
  return ["default", "kube-node-lease", "kube-public", "kube-system"].flatMap((namespace) => [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: "kube-root-ca.crt",
        namespace,
        annotations: {
          "kubernetes.io/description":
            "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.",
        },
      },
      data: { "ca.crt": certificateAuthority },
    },
  ])
}

/** Since when the use of legacy tokens is written down: controller managers ask for it when they start. */
const tokenTracking: KubeObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "kube-apiserver-legacy-service-account-token-tracking", namespace: "kube-system" },
  data: { since: places.day },
}

/** How programs that serve aggregated APIs know who calls them. */
const extensionAuthentication: KubeObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "extension-apiserver-authentication", namespace: "kube-system" },
  data: {
    "client-ca-file": places.clientAuthority,
    "requestheader-allowed-names": `["${frontProxyName}"]`,
    "requestheader-client-ca-file": places.frontProxyAuthority,
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-uid-headers": '["X-Remote-Uid"]',
    "requestheader-username-headers": '["X-Remote-User"]',
  },
}

/** The default one. It belongs to the super cluster: tenants see what their addresses are of. */
function serviceCIDR(cidrs: readonly string[]): KubeObject {
  const message = "Kubernetes default Service CIDR is ready"
  const ready = { type: "Ready", status: "True", reason: "", message, lastTransitionTime: places.time }
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "ServiceCIDR",
    metadata: { name: "kubernetes" },
    spec: { cidrs },
    status: { conditions: [ready] },
  } as KubeObject
}

interface Aggregated {
  aggregationRule?: { clusterRoleSelectors?: { matchLabels?: Record<string, string> }[] }
  rules?: PolicyRule[] | null
}

/** Roles that gather others' rules (admin, edit, view) have them from the start. An aggregate may gather aggregates. */
function withAggregatedRules(objects: readonly KubeObject[]): KubeObject[] {
  const roles = new Map(
    objects.filter(({ kind }) => kind === "ClusterRole").map((role) => [role.metadata.name ?? "", role]),
  )
  const gathered = (role: KubeObject): PolicyRule[] => {
    const { aggregationRule, rules } = role as KubeObject & Aggregated
    if (aggregationRule === undefined) return rules ?? []
    const selectors = (aggregationRule.clusterRoleSelectors ?? []).map((each) => selectorFromLabelSelector(each))
    const found = new Map<string, PolicyRule>()
    const names = [...roles.keys()].sort()
    for (const selector of selectors) {
      for (const other of names.map((name) => roles.get(name))) {
        if (other === undefined || other === role || !matches(selector, other.metadata.labels ?? {})) continue
        for (const rule of gathered(other)) found.set(JSON.stringify(rule), rule)
      }
    }
    return [...found.values()]
  }
  return objects.map((object) =>
    object.kind === "ClusterRole" && "aggregationRule" in object ? { ...object, rules: gathered(object) } : object,
  )
}

/** What is said of them has been so from the start. */
function withTimes(object: KubeObject): KubeObject {
  const { status } = object as KubeObject & { status?: { conditions?: object[] } }
  if (status?.conditions === undefined) return object
  const conditions = status.conditions.map((condition) => ({ lastTransitionTime: places.time, ...condition }))
  return { ...object, status: { ...status, conditions } } as KubeObject
}

function template(object: KubeObject): Template {
  const { metadata } = object
  const complete = { ...object, metadata: { ...metadata, uid: places.uid, creationTimestamp: places.time } }
  const text = Buffer.from(encodeStored(complete)).toString()
  const found: Place[] = []
  const pieces: Buffer[] = []
  let last = 0
  for (const match of text.matchAll(new RegExp(Object.values(places).join("|"), "g"))) {
    found.push(...placeNames.filter((name) => places[name] === match[0]))
    pieces.push(Buffer.from(text.slice(last, match.index)))
    last = match.index + match[0].length
  }
  pieces.push(Buffer.from(text.slice(last)))
  const isPlain = found.length === 2 && found[0] === "uid" && found[1] === "time"
  const shared = isPlain ? (JSON.parse(text) as KubeObject) : undefined
  return { object, shared: deepFreeze(shared), mentions: new WeakMap(), pieces, places: found }
}

/** Everything but metadata and who and when in it is the same object for all control planes. */
function born(found: Template, shared: KubeObject, owner: Owner, key: string): BornObject {
  const [beginning = Buffer.alloc(0)] = found.pieces
  return {
    beginning,
    labels: shared.metadata.labels ?? {},
    mentions(words) {
      let isThere = found.mentions.get(words)
      if (isThere === undefined) {
        isThere = words.some((word) => found.pieces.some((piece) => piece.includes(word)))
        found.mentions.set(words, isThere)
      }
      return isThere
    },
    object() {
      const filled = { uid: derivedUid(owner.uid, key), creationTimestamp: owner.createdAt }
      const metadata = Object.freeze({ ...shared.metadata, ...filled, resourceVersion: String(baseRevision) })
      return Object.freeze({ ...shared, metadata })
    },
  }
}

function fill({ pieces, places }: Template, uid: string, { createdAt, authorities }: Owner): Uint8Array {
  const values: Record<Place, () => string> = {
    uid: () => uid,
    time: () => createdAt,
    day: () => createdAt.slice(0, "yyyy-mm-dd".length),
    clientAuthority: () => inJSON(authorities?.().client ?? ""),
    frontProxyAuthority: () => inJSON(authorities?.().frontProxy ?? ""),
  }
  const parts: Buffer[] = []
  pieces.forEach((piece, index) => {
    parts.push(piece)
    const place = places[index]
    if (place !== undefined) parts.push(Buffer.from(values[place]()))
  })
  // Memory of its own: stores and caches keep it, and in Node's pool of small buffers it would keep the 64 KiB around it.
  const bytes = Buffer.allocUnsafeSlow(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) at += part.copy(bytes, at)
  return bytes
}

/** Between quotes that are there already. */
const inJSON = (text: string): string => JSON.stringify(text).slice(1, -1)

/** The same object of the same control plane has the same uid, without being written down: a UUID of version 8. */
function derivedUid(owner: string, key: string): string {
  const hex = hash("sha256", `${owner}\n${key}`)
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
