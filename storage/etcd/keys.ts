// What lies where in etcd. All tenants of a gateway share one etcd, each below its own prefix:
//
//   <prefix>/stores/<uid>/v<key>    a value, its bytes. Keys begin with "/": …/v/registry/core/pods/default/web
//   <prefix>/stores/<uid>/d<key>    empty: this key of the base layer has been deleted, first at the revision this was
//                                   written. Never written again and never removed while the store is there
//   <prefix>/stores/<uid>/q         the gate of its quota (gate.ts)
//   <prefix>/leases/<name>          who leads, bound to an etcd lease
//
// Revisions are etcd's own: one sequence for all tenants, of which each sees those at which it changed.

export interface StoreKeys {
  value(key: string): Buffer
  deleted(key: string): Buffer
  gate: Buffer
  /** All that begins with `deleted("")`. */
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

/** The end of the range of all keys that begin with `prefix`, which is not empty and, as UTF-8, holds no byte 0xff. */
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

/** Of a key below the stores' prefix, whose length in bytes is given. */
export function placeOf(wire: Buffer, prefixLength: number): Place {
  const end = wire.indexOf(slash, prefixLength)
  return {
    uid: wire.toString("latin1", prefixLength, end),
    kind: kinds.get(wire[end + 1]) ?? "deleted",
    key: wire.toString("utf8", end + 2),
  }
}
