// The tenants of a gateway in another process, for parts that may have been started before it.

import { StatusError } from "../../apimachinery/status.ts"
import { pause, systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { backoff } from "../../client/reflector.ts"
import { connectTenants } from "../../client/remote-tenants.ts"
import type { TenantAdmin } from "../../client/tenants.ts"
import { UserError } from "../command.ts"
import { readKubeconfigFile } from "./cluster.ts"

/** Waits until the gateway answers. Throws the signal's reason when that ends first, UserError when it never will. */
export async function connectGateway(
  kubeconfig: string,
  { log, metrics, signal }: { log: Log; metrics?: ClientMetrics; signal: AbortSignal },
): Promise<TenantAdmin & AsyncDisposable> {
  const config = await readKubeconfigFile(kubeconfig)
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted()
    try {
      return await connectTenants({ ...config, log, metrics })
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      if (error.code === 401 || error.code === 403) {
        throw new UserError(`${kubeconfig} is not the gateway's admin kubeconfig: ${error.message}`, { cause: error })
      }
      log.warn({ error: error.message, failures }, "the gateway does not answer yet, asking again")
    }
    await pause(systemClock, backoff(failures), signal)
  }
}
