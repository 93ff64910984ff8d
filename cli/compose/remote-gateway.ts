// The tenants of a gateway in another process, for parts that may have been started before it, and that run for longer than their
// certificate lasts: the gateway renews the Secret that the kubeconfig is a file of.

import { StatusError } from "../../apimachinery/status.ts"
import { pause, systemClock } from "../../client/clock.ts"
import type { TlsIdentity } from "../../client/http-transport.ts"
import type { ClientConfig } from "../../client/kubeconfig.ts"
import type { Log } from "../../client/log.ts"
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { backoff } from "../../client/reflector.ts"
import { connectTenants, type TenantsConnection } from "../../client/remote-tenants.ts"
import { UserError } from "../command.ts"
import { follow, type Following } from "../../client/follow.ts"
import { isSameIdentity, readKubeconfigFile } from "./cluster.ts"

/** Waits until the gateway answers. Throws the signal's reason when that ends first, UserError when it never will. */
export async function connectGateway(
  kubeconfig: string,
  { log, metrics, signal }: { log: Log; metrics?: ClientMetrics; signal: AbortSignal },
): Promise<TenantsConnection> {
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted()
    // Read each time: by the next one it may be another.
    const config = await readKubeconfigFile(kubeconfig)
    try {
      const tenants = await connectTenants({ ...config, log, metrics })
      void followKubeconfig(kubeconfig, config, (identity) => tenants.renew(identity), { signal, log })
      return tenants
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

/** Calls `renew` whenever the file says somebody else, until the signal ends. */
export function followKubeconfig(
  file: string,
  current: ClientConfig,
  renew: (identity: TlsIdentity) => void,
  context: Following,
): Promise<void> {
  return follow(
    { what: "kubeconfig", read: () => readKubeconfigFile(file), current, isSame: isSameIdentity, renew },
    context,
  )
}
