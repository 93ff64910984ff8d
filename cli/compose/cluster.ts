// Clients of clusters, from a kubeconfig or from inside a pod.

import { errorMessage } from "../../apimachinery/error-message.ts"
import { hasReason, StatusError } from "../../apimachinery/status.ts"
import { createHttpClient } from "../../client/http/client.ts"
import type { TlsIdentity } from "../../client/http/transport.ts"
import { follow, type Following } from "../../client/credentials/follow.ts"
import { inClusterConfig, loadKubeconfig, type ClientConfig } from "../../client/credentials/kubeconfig.ts"
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import type { KubeClient } from "../../client/rest.ts"
import { UserError } from "../command.ts"

/** Throws a UserError that names the file. */
export async function readKubeconfigFile(file: string): Promise<ClientConfig> {
  try {
    return await loadKubeconfig(file)
  } catch (error) {
    throw new UserError(errorMessage(error), { cause: error })
  }
}

/** Sends no request to the cluster yet. */
export async function connectCluster(kubeconfig: string): Promise<KubeClient & AsyncDisposable> {
  return createHttpClient(await readKubeconfigFile(kubeconfig))
}

interface LastingOptions extends Omit<Following, "signal"> {
  metrics?: ClientMetrics
  /** Called after the client uses the new identity. */
  renewed?: (identity: TlsIdentity) => void
}

/** A client for the lifetime of a process: it reloads the files named by the kubeconfig when they change. */
export function createLastingClient(
  config: ClientConfig,
  { metrics, renewed, ...context }: LastingOptions,
): KubeClient & AsyncDisposable {
  const client = createHttpClient({ ...config, metrics })
  const { identityAgain } = config
  if (identityAgain === undefined) return client
  const ending = new AbortController()
  const renew = (identity: TlsIdentity): void => {
    client.renew(identity)
    renewed?.(identity)
  }
  const following = follow(
    { what: "certificate for the super cluster", read: identityAgain, current: config, isSame: isSameIdentity, renew },
    { ...context, signal: ending.signal },
  )
  return {
    ...client,
    async [Symbol.asyncDispose]() {
      ending.abort()
      await following
      await client[Symbol.asyncDispose]()
    },
  }
}

export const isSameIdentity = (a: TlsIdentity, b: TlsIdentity): boolean =>
  a.certificateAuthority === b.certificateAuthority && a.certificate === b.certificate && a.key === b.key

/** Without a kubeconfig: the cluster in which this process runs as a pod. */
export async function connectSuperCluster(
  kubeconfig: string | undefined,
  options: LastingOptions,
): Promise<KubeClient & AsyncDisposable> {
  if (kubeconfig !== undefined) return createLastingClient(await readKubeconfigFile(kubeconfig), options)
  try {
    return createLastingClient(await inClusterConfig(), options)
  } catch (error) {
    const why = errorMessage(error)
    throw new UserError(`no super cluster: superKubeconfig is not set, and ${why}`, { cause: error })
  }
}

/** A UserError that says what to do if the super cluster of this kubeconfig answers with an error, and other errors unchanged. */
export function explainSuperCluster(error: unknown, file: string, { isLocal = false } = {}): unknown {
  if (!(error instanceof StatusError)) return error
  const userError = (message: string) => new UserError(message, { cause: error })
  const { message } = error
  if (hasReason(error, "Unauthorized"))
    return userError(`the super cluster refuses the credentials of ${file}; they may have expired or been replaced`)
  // By its RBAC, not by its admission.
  if (hasReason(error, "Forbidden") && message.includes(' forbidden: User "'))
    return userError(
      `the super cluster does not permit this to the user of ${file} (manifests/rbac lists what is needed): ${message}`,
    )
  if (hasReason(error, "ServiceUnavailable")) {
    const advice = isLocal ? `; is \`polyplane up\` running?` : ""
    return userError(`the super cluster of ${file} does not answer: ${message}${advice}`)
  }
  return userError(message)
}
