// Clients of clusters that the person named by a kubeconfig, or that this process runs in.

import { errorMessage } from "../../apimachinery/error-message.ts"
import { createHttpClient } from "../../client/http-client.ts"
import { inClusterConfig, loadKubeconfig, type ClientConfig } from "../../client/kubeconfig.ts"
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import type { KubeClient } from "../../client/rest.ts"
import { UserError } from "../command.ts"

/** Fails with UserError, which names the file. */
export async function readKubeconfigFile(file: string): Promise<ClientConfig> {
  try {
    return await loadKubeconfig(file)
  } catch (error) {
    throw new UserError(errorMessage(error), { cause: error })
  }
}

/** Does not ask the cluster anything yet. */
export async function connectCluster(
  kubeconfig: string,
  metrics?: ClientMetrics,
): Promise<KubeClient & AsyncDisposable> {
  return createHttpClient({ ...(await readKubeconfigFile(kubeconfig)), metrics })
}

/** Without a kubeconfig: the cluster this process is a pod of. */
export async function connectSuperCluster(
  kubeconfig: string | undefined,
  metrics?: ClientMetrics,
): Promise<KubeClient & AsyncDisposable> {
  if (kubeconfig !== undefined) return connectCluster(kubeconfig, metrics)
  try {
    return createHttpClient({ ...(await inClusterConfig()), metrics })
  } catch (error) {
    const why = errorMessage(error)
    throw new UserError(`no super cluster: superKubeconfig is not set, and ${why}`, { cause: error })
  }
}
