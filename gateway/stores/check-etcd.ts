// The consistency check of the data of gateways in etcd: every store, and that each store has an owner. Gateways may be running.

import { timestamp } from "../../apimachinery/object.ts"
import { EtcdSnapshot, whyStopped } from "../../storage/etcd/check.ts"
import { StartError } from "../start-error.ts"
import { createBootstrap } from "../control-plane/bootstrap.ts"
import { lostStores, nameOf, strayFaults, type CheckedStore } from "./check-data-directory.ts"
import { gatewayUid, type EtcdStorageOptions } from "./etcd-storage.ts"
import { recordsOf } from "../tenancy/tenant-record.ts"

/** Throws StartError if etcd does not respond or contains no data of Polyplane. */
export async function* checkEtcd(options: EtcdStorageOptions): AsyncGenerator<CheckedStore> {
  using snapshot = new EtcdSnapshot(options)
  try {
    const own = await snapshot.values(gatewayUid)
    if (own.size === 0) throw new StartError("nothing of polyplane lies in that etcd, at least not below this prefix")
    const { records, faults: unreadable } = recordsOf(own)
    const byUid = new Map(records.map((record) => [record.tenant.uid, record]))
    // The check needs only the keys of the base layer, which are the same for every control plane.
    const base = createBootstrap("", []).layer({ uid: "", createdAt: timestamp() })
    const found = new Set<string>()
    for await (const { uid, faults } of snapshot.check(base)) {
      found.add(uid)
      const record = byUid.get(uid)
      if (uid === gatewayUid) yield { name: "gateway", faults: [...faults, ...unreadable] }
      // Each start tries to remove what remains.
      else if (record?.state !== "deleting")
        yield { name: nameOf(uid, record), faults: [...faults, ...strayFaults(uid, record)] }
    }
    yield* lostStores(byUid, found)
  } catch (error) {
    const why = whyStopped(error)
    throw why === undefined ? error : new StartError(`etcd cannot be checked: ${why}`, { cause: error })
  }
}
