// The initial objects of every control plane: those that a new kube-apiserver creates, and those that its controllers add to the
// initial namespaces. They are encoded once for all control planes; the parts that differ (uid, time) are inserted when an object
// is read.

import { hash } from "node:crypto"
import type { ManagedFieldsEntry } from "../../apimachinery/managed-fields/managers.ts"
import { printGroupVersion, type KubeObject } from "../../apimachinery/object.ts"
import { bootstrapObjects } from "../../apimachinery/schema/facts.ts"
import { matches, selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import { baseRevision } from "../../storage/base-layer.ts"
import type { BaseLayer } from "../../storage/types.ts"
import { builtInDefinitions } from "../registry/definitions.ts"
import { managersIn, setEntries } from "../registry/generic/managed-fields/field-management.ts"
import { storageKey } from "../registry/generic/storage/keys.ts"
import { deepFreeze } from "../../apimachinery/freeze.ts"
import { rootCAConfigMap } from "../../apimachinery/tenancy.ts"
import { encodeStored } from "../registry/generic/storage/stored-form.ts"
import type { BornObject } from "../registry/generic/storage/stored-value.ts"
import type { ResourceDefinition } from "../registry/rest.ts"
import type { PolicyRule } from "../authorization/types.ts"
import { initialServiceCIDR } from "./default-service-cidr.ts"
import { extensionAuthentication } from "./extension-authentication.ts"
import { initialManagers } from "./initial-managers.ts"
import { tokenTracking } from "./token-tracking.ts"

/** Placeholders in the encoded objects; they do not occur otherwise. */
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
  /** PEM of the authorities for client certificates; called when the object that contains them is read. */
  authorities?: () => { client: string; frontProxy: string }
}

export interface Bootstrap {
  /** Returns the layer of one control plane. */
  layer(owner: Owner): BaseLayer
  /** The object of a key, without uid and time; shared, must not be modified. */
  object(key: string): KubeObject | undefined
  /** The uid of the object of a key in a control plane. */
  uid(owner: string, key: string): string
}

interface Initial {
  object: KubeObject
  definition: ResourceDefinition
  /** Made when the object is first read: a process that starts does not wait for it. */
  template: Template | undefined
}

interface Template {
  /** Deeply frozen, without the inserted values; undefined if they are not only in its metadata. */
  shared: KubeObject | undefined
  /** By the words searched for: {@link BornObject.mentions}. */
  mentions: WeakMap<readonly Buffer[], boolean>
  /** The encoded object, split at the places for uid, time and day. */
  pieces: readonly Buffer[]
  places: readonly Place[]
}

/** Cached objects per tenant: enough for the one or two namespaces in use; objects that lists read are not worth caching. */
const maxRecent = 4

/** `certificateAuthority`: that of the gateway, which pods trust. `serviceRanges`: the ranges of Service addresses. */
export function createBootstrap(certificateAuthority: string, serviceRanges: readonly string[]): Bootstrap {
  const definitions = new Map(builtInDefinitions().map((each) => [`${printGroupVersion(each)}/${each.kind}`, each]))
  const initial = new Map<string, Initial>()
  for (const object of [
    ...withAggregatedRules(bootstrapObjects()).map(withTimes),
    ...perNamespace(certificateAuthority),
    tokenTracking(places.day),
    extensionAuthentication({ client: places.clientAuthority, frontProxy: places.frontProxyAuthority }),
    ...(serviceRanges.length === 0 ? [] : [initialServiceCIDR(serviceRanges, places.time)]),
  ]) {
    const { apiVersion, kind, metadata } = object
    const definition = definitions.get(`${apiVersion}/${kind}`)
    if (definition === undefined) continue
    const key = storageKey(definition.storagePrefix, metadata.namespace ?? "", metadata.name ?? "")
    initial.set(key, { object, definition, template: undefined })
  }
  const templateOf = (key: string): Template | undefined => {
    const found = initial.get(key)
    return found && (found.template ??= template(found))
  }
  const keys = [...initial.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return {
    layer(owner) {
      // Every write reads its namespace.
      const recent = new Map<string, Uint8Array>()
      return {
        keys,
        has: (key) => initial.has(key),
        known(key) {
          const found = templateOf(key)
          return found?.shared === undefined ? undefined : born(found, found.shared, owner, key)
        },
        value(key) {
          const found = templateOf(key)
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
    object: (key) => initial.get(key)?.object,
    uid: derivedUid,
  }
}

/** The objects that the root CA publisher and the service account controller create in each namespace. */
function perNamespace(certificateAuthority: string): KubeObject[] {
  return ["default", "kube-node-lease", "kube-public", "kube-system"].flatMap((namespace) => [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: rootCAConfigMap,
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

interface Aggregated {
  aggregationRule?: { clusterRoleSelectors?: { matchLabels?: Record<string, string> }[] }
  rules?: PolicyRule[] | null
}

/** Aggregated roles (admin, edit, view) contain the rules from the start. An aggregate may include other aggregates. */
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

/** Sets the times of the conditions to the creation time. */
function withTimes(object: KubeObject): KubeObject {
  const { status } = object as KubeObject & { status?: { conditions?: object[] } }
  if (status?.conditions === undefined) return object
  const conditions = status.conditions.map((condition) => ({ lastTransitionTime: places.time, ...condition }))
  return { ...object, status: { ...status, conditions } }
}

function template({ object, definition }: Initial): Template {
  const metadata = { ...object.metadata, uid: places.uid, creationTimestamp: places.time }
  const complete: KubeObject = { ...object, metadata }
  const entries = initialManagers(object, definition, places.time)
  setEntries(complete, entries)
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
  const inMetadata = 2 + (entries?.length ?? 0)
  const isPlain = found.length === inMetadata && found.every((place) => place === "uid" || place === "time")
  const shared = deepFreeze(isPlain ? (JSON.parse(text) as KubeObject) : undefined)
  return { shared, mentions: new WeakMap(), pieces, places: found }
}

/** All control planes share the object except for its metadata with uid and time. */
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
      const { createdAt } = owner
      const filled = { uid: derivedUid(owner.uid, key), creationTimestamp: createdAt }
      const metadata = { ...shared.metadata, ...filled, resourceVersion: String(baseRevision) }
      const object: KubeObject = { ...shared, metadata }
      setEntries(object, withTime(managersIn(shared), createdAt))
      Object.freeze(metadata)
      return Object.freeze(object)
    },
  }
}

function withTime(
  entries: readonly ManagedFieldsEntry[] | undefined,
  time: string,
): readonly ManagedFieldsEntry[] | undefined {
  return entries && Object.freeze(entries.map((entry) => Object.freeze({ ...entry, time })))
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
  // Not pooled: stores and caches retain it, and a slice of Node's buffer pool would retain the 64 KiB around it.
  const bytes = Buffer.allocUnsafeSlow(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) at += part.copy(bytes, at)
  return bytes
}

/** For text within existing quotes. */
const inJSON = (text: string): string => JSON.stringify(text).slice(1, -1)

/** A deterministic UUID (version 8), so the uid of an object in a control plane need not be stored. */
function derivedUid(owner: string, key: string): string {
  const hex = hash("sha256", `${owner}\n${key}`)
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
