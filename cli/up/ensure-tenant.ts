// The tenants that `polyplane up` is asked for exist when it reports that it is ready.

import { isNotFound, StatusError } from "../../apimachinery/status.ts"
import { endsWithin, systemClock } from "../../client/clock.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { TenantAdmin } from "../../client/tenants.ts"
import { UserError } from "../command.ts"
import { withProgress } from "../progress.ts"
import { createVirtualCluster, getVirtualCluster, waitForVirtualCluster } from "../tenant/virtual-clusters.ts"

const namespace = "default"
const timeoutMs = 60_000

type Tenants = Pick<TenantAdmin, "get" | "subscribe">

/** Creates its VirtualCluster if there is none, and waits until the gateway has the tenant. */
export async function ensureTenant(superClient: KubeClient, tenants: Tenants, name: string): Promise<void> {
  if (tenants.get(name) !== undefined) return
  await withProgress(`creating tenant "${name}"`, async (say) => {
    // One that is being deleted has to be gone before there can be another one.
    let isThere = false
    while (!isThere) isThere = await isRunning(superClient, name, say)
    // A VirtualCluster of a real super cluster may be Running from before, with a data directory that is lost.
    await untilThere(tenants, name)
  })
}

/** false: it was being deleted, and is gone. */
async function isRunning(superClient: KubeClient, name: string, say: (what: string) => void): Promise<boolean> {
  try {
    await getVirtualCluster(superClient, namespace, name)
  } catch (error) {
    if (!(error instanceof UserError) || !isNotFound(error.cause)) throw error
    await create(superClient, name)
  }
  return waitForVirtualCluster(superClient, namespace, name, timeoutMs, (object) => {
    if (object === undefined) return false
    const { message, phase } = object.status ?? {}
    say(message ?? phase ?? "")
    if (object.metadata.deletionTimestamp !== undefined) return undefined
    if (phase === "Error") throw new UserError(`tenant "${name}": ${message ?? "Error"}`)
    return phase === "Running" ? true : undefined
  })
}

async function create(superClient: KubeClient, name: string): Promise<void> {
  try {
    await createVirtualCluster(superClient, namespace, name, "default")
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw new UserError(`tenant "${name}" cannot be created: ${error.message}`, { cause: error })
  }
}

async function untilThere(tenants: Tenants, name: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const added = (tenant: { name: string }): void => {
    if (tenant.name === name) resolve()
  }
  const stop = tenants.subscribe({ added })
  const isThere = await endsWithin(systemClock, timeoutMs, promise)
  stop()
  const advice = `kubectl describe virtualcluster ${name} -n ${namespace} tells its state`
  if (!isThere) throw new UserError(`there is no tenant "${name}" after ${timeoutMs / 1000} s; ${advice}`)
}
