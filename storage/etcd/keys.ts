// The layout of keys in etcd. All tenants of a gateway share one etcd cluster, each with its own prefix:
//
//   <prefix>/stores/<uid>/v<key>    a value. Keys begin with "/": …/v/registry/core/pods/default/web
//                                   That of a control plane's trust roots is the store's mark: without it nothing is written (mark.ts)
//   <prefix>/stores/<uid>/d<key>    empty: this key of the base layer was first deleted at the revision of this entry. Never
//                                   overwritten, and never removed while the store exists
//   <prefix>/stores/<uid>/q         the gate of the quota (gate.ts)
//   <prefix>/leases/<name>          the holder of a lock, bound to an etcd lease
//
// Revisions are etcd's own: one sequence for all tenants. Each tenant observes only the revisions of its own changes.

export interface StoreKeys {
  value(key: string): Buffer
  deleted(key: string): Buffer
  gate: Buffer
  /** Prefix of everything in the store. */
  root: Buffer
}

export function storesPrefix(prefix: string): string {
  return `${prefix}/stores/`
}

export function leaseKey(prefix: string, name: string): Buffer {
  return Buffer.from(`${prefix}/leases/${name}`)
}

export function storeKeys(prefix: string, uid: string): StoreKeys {
  const root = `${storesPrefix(prefix)}${uid}/`
  return {
    value: (key) => Buffer.from(`${root}v${key}`),
    deleted: (key) => Buffer.from(`${root}d${key}`),
    gate: Buffer.from(`${root}q`),
    root: Buffer.from(root),
  }
}

/** The end of the range of keys with this prefix, which must not be empty; UTF-8 contains no byte 0xff. */
export function rangeEnd(prefix: Uint8Array): Buffer {
  const end = Buffer.from(prefix)
  const last = end.length - 1
  end[last] = (end[last] ?? 0) + 1
  return end
}

const slash = "/".charCodeAt(0)
const kinds = new Map<number | undefined, Place["kind"]>([
  ["v".charCodeAt(0), "value"],
  ["q".charCodeAt(0), "gate"],
])

export interface Place {
  uid: string
  kind: "value" | "deleted" | "gate"
  key: string
}

/** Parses a key below the stores' prefix, whose length is given in bytes. */
export function placeOf(wire: Buffer, prefixLength: number): Place {
  const end = wire.indexOf(slash, prefixLength)
  return {
    uid: wire.toString("latin1", prefixLength, end),
    kind: kinds.get(wire[end + 1]) ?? "deleted",
    key: wire.toString("utf8", end + 2),
  }
}
