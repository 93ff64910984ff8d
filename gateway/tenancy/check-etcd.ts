// The consistency check of what gateways keep in an etcd: every store, and that each belongs to somebody. Gateways may go on.

import { timestamp } from "../../apimachinery/object.ts"
import { EtcdSnapshot, whyStopped } from "../../storage/etcd/check.ts"
import { StartError } from "../start-error.ts"
import { createBootstrap } from "./bootstrap.ts"
import { nameOf, strayFaults, type CheckedStore } from "./check-data-directory.ts"
import { gatewayUid, type EtcdStorageOptions } from "./etcd-storage.ts"
import { recordsOf } from "./tenant-record.ts"

/** Fails with StartError when etcd does not answer, or nothing of polyplane lies there. */
export async function* checkEtcd(options: EtcdStorageOptions): AsyncGenerator<CheckedStore> {
  using snapshot = new EtcdSnapshot(options)
  try {
    const own = await snapshot.values(gatewayUid)
    if (own.size === 0) throw new StartError("nothing of polyplane lies in that etcd, at least not below this prefix")
    const { records, faults: unreadable } = recordsOf(own)
    const byUid = new Map(records.map((record) => [record.tenant.uid, record]))
    // Which keys the base has is all that the check asks for; they are the same for every control plane.
    const base = createBootstrap("", []).layer({ uid: "", createdAt: timestamp() })
    for await (const { uid, faults } of snapshot.check(base)) {
      const record = byUid.get(uid)
      if (uid === gatewayUid) yield { name: "gateway", faults: [...faults, ...unreadable] }
      // What is left of it goes at the next start.
      else if (record?.state !== "deleting")
        yield { name: nameOf(uid, record), faults: [...faults, ...strayFaults(uid, record)] }
    }
  } catch (error) {
    const why = whyStopped(error)
    throw why === undefined ? error : new StartError(`etcd cannot be checked: ${why}`, { cause: error })
  }
}
