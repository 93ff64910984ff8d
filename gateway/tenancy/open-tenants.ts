// Opens the directory of the tenants that a process serves: a gateway alone (main.ts), or a worker (workers/worker.ts).

import type { Log } from "../../client/log.ts"
import type { Metrics } from "../metrics/metrics.ts"
import type { GatewayLimits } from "../options.ts"
import type { ControlPlanes } from "../control-plane/control-planes.ts"
import type { GatewayStorage } from "../stores/storage.ts"
import type { RecordStored } from "./stored-marks.ts"
import { TenantDirectory } from "./tenant-directory.ts"

interface TenantsParts {
  data: GatewayStorage
  controlPlanes: ControlPlanes
  metrics: Metrics
  limits: GatewayLimits
  log: Log
  /** Default: in the records of `data`. */
  recordStored?: RecordStored
}

/** Nothing of the parts is owned. */
export async function openTenants({
  data,
  controlPlanes,
  metrics,
  limits,
  log,
  recordStored,
}: TenantsParts): Promise<TenantDirectory> {
  const tenants = await TenantDirectory.open({
    store: data.store,
    openControlPlane: (record, life) => controlPlanes.openTenant(record, life),
    admittance: (controlPlane) => controlPlanes.admittance(controlPlane),
    newUid: () => data.newUid(),
    unused: (uid) => data.unused?.(uid),
    removeStore: (uid) => data.removeStore(uid),
    others: data.others,
    recordStored,
    preparation: controlPlanes,
    addressOf: (name) => controlPlanes.addressOf(name),
    issuerOf: (name) => controlPlanes.issuerOf(name),
    log,
    limits,
  })
  metrics.follow(tenants)
  return tenants
}
