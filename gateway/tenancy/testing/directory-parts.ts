// What a tenant directory is opened with in tests: control planes that do nothing, and a store of records in memory.

import { randomUUID } from "node:crypto"
import { silentLog } from "../../../client/log.ts"
import type { Tenant } from "../../../client/tenants.ts"
import { createMemoryStore } from "../../../storage/memory/store.ts"
import type { Watcher } from "../../../storage/types.ts"
import type { ControlPlane } from "../../control-plane/control-plane.ts"
import { type TenantDirectoryParts } from "../tenant-directory.ts"

export const limits = {
  tenantReadyMs: 60_000,
  maxOpening: 2,
  tenantIdleMs: 60_000,
  maxAwakeTenants: 10,
  maxAwakeBytes: 2 ** 30,
}

export const request = (name: string, uid = "vc"): Omit<Tenant, "uid"> => ({
  name,
  virtualCluster: { namespace: "default", name, uid },
  clusterKey: name,
  clusterDomain: "cluster.local",
  transparentMetaPrefixes: [],
  opaqueMetaPrefixes: [],
  controllers: true,
})

export const unkept = { keys: new Set<string>(), isRepeatedAfter: () => false }

export function parts(more: Partial<TenantDirectoryParts> = {}) {
  const removed: string[] = []
  const disposed: string[] = []
  const all: TenantDirectoryParts = {
    store: createMemoryStore(),
    openControlPlane: ({ tenant }, life) => {
      life.events.at = Infinity // or it would be woken for its Events again and again
      return Promise.resolve({
        name: tenant.name,
        presence: life.presence,
        begin: () => life.begin(),
        introduce: () => life.introduce(),
        store: { revision: 1 },
        [Symbol.asyncDispose]: () => {
          disposed.push(tenant.name)
          return Promise.resolve()
        },
      } as unknown as ControlPlane)
    },
    newUid: randomUUID,
    removeStore: (uid) => {
      removed.push(uid)
      return Promise.resolve()
    },
    preparation: { ...unkept, isBegun: () => Promise.resolve(false), prepare: () => Promise.resolve() },
    addressOf: (name) => ({ server: `https://gateway/tenants/${name}`, certificateAuthority: "" }),
    issuerOf: (name) => `https://issuer/${name}`,
    log: silentLog,
    limits,
    ...more,
  }
  return { all, removed, disposed }
}

/** Control planes that can fall asleep, as nobody changes them. `close` is called when they do. */
export function sleeping({ openControlPlane }: TenantDirectoryParts, close: (name: string) => Promise<void>) {
  const open: TenantDirectoryParts["openControlPlane"] = async (record, life) => {
    const controlPlane = await openControlPlane(record, life)
    const closing = { [Symbol.asyncDispose]: () => close(record.tenant.name) }
    return { ...controlPlane, store: { revision: 1, watch: silentWatch }, ...closing } as unknown as ControlPlane
  }
  return open
}

/** Nothing changes. */
export function silentWatch(): Watcher {
  const { promise, resolve: close } = Promise.withResolvers<void>()
  const next = async () => {
    await promise
    return { done: true as const, value: undefined }
  }
  return { revision: 1, close, [Symbol.asyncIterator]: () => ({ next }) }
}
