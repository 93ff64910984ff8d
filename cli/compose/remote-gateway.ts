// The tenants of a gateway in another process, for parts that may start before the gateway and that run for longer than their
// certificate is valid: the gateway renews the Secret that contains the kubeconfig.

import { StatusError } from "../../apimachinery/status.ts"
import { backoff } from "../../client/backoff.ts"
import { pause, systemClock } from "../../client/clock.ts"
import type { TlsIdentity } from "../../client/http/transport.ts"
import { loadIdentity } from "../../client/credentials/kubeconfig.ts"
import type { Log } from "../../client/log.ts"
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { connectTenants, type TenantsConnection } from "../../client/remote-tenants.ts"
import { UserError } from "../command.ts"
import { follow, type Following } from "../../client/credentials/follow.ts"
import { isSameIdentity, readKubeconfigFile } from "./cluster.ts"

/**
 * Waits until the gateway responds. Throws the signal's reason if the signal ends first, or a UserError if the kubeconfig is not
 * accepted.
 */
export async function connectGateway(
  kubeconfig: string,
  { log, metrics, signal }: { log: Log; metrics?: ClientMetrics; signal: AbortSignal },
): Promise<TenantsConnection> {
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted()
    // Read for each attempt, because the file may have been replaced.
    const config = await readKubeconfigFile(kubeconfig)
    try {
      const tenants = await connectTenants({ ...config, log, metrics })
      void followKubeconfig(kubeconfig, config, (identity) => tenants.renew(identity), { signal, log })
      return tenants
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      // Also 404, of the API of a tenant or of another cluster.
      if (error.code === 401 || error.code === 403 || error.code === 404) {
        throw new UserError(`${kubeconfig} is not the gateway's admin kubeconfig: ${error.message}`, { cause: error })
      }
      log.warn({ error: error.message, failures }, "the gateway is unavailable; retrying")
    }
    await pause(systemClock, backoff(failures), signal)
  }
}

/** Calls `renew` whenever the identity in the file changes, until the signal ends. */
export function followKubeconfig(
  file: string,
  current: TlsIdentity,
  renew: (identity: TlsIdentity) => void,
  context: Following,
): Promise<void> {
  return follow({ what: "kubeconfig", read: () => loadIdentity(file), current, isSame: isSameIdentity, renew }, context)
}
