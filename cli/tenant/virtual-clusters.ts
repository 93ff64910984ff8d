// Operations on VirtualCluster objects for the command line.

import type { KubeObject, Secret } from "../../apimachinery/object.ts"
import { isAlreadyExists, isConflict, isNotFound } from "../../apimachinery/status.ts"
import { clusterVersions, secrets, virtualClusters } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { UserError } from "../command.ts"

export interface VirtualCluster extends KubeObject {
  spec: { clusterVersionName: string; [field: string]: unknown }
  status?: { phase?: string; clusterNamespace?: string; message?: string; reason?: string }
}

export async function createVirtualCluster(
  client: KubeClient,
  namespace: string,
  name: string,
  clusterVersionName: string,
): Promise<VirtualCluster> {
  await checkClusterVersion(client, clusterVersionName)
  const object: VirtualCluster = {
    apiVersion: "tenancy.x-k8s.io/v1alpha1",
    kind: "VirtualCluster",
    metadata: { name, namespace },
    spec: { clusterVersionName },
  }
  try {
    return await client.create(virtualClusters, object, { fieldManager: "polyplane" })
  } catch (error) {
    if (isAlreadyExists(error))
      throw new UserError(`tenant "${name}" already exists in namespace "${namespace}"`, { cause: error })
    throw error
  }
}

/** Checks before creating anything: a VirtualCluster may wait for its ClusterVersion, but a user at the command line does not. */
async function checkClusterVersion(client: KubeClient, name: string): Promise<void> {
  try {
    await client.get(clusterVersions, undefined, name)
  } catch (error) {
    if (isNotFound(error) && error.status.details?.name === name)
      throw new UserError(`there is no ClusterVersion "${name}"; "default" always exists`, { cause: error })
    throw error
  }
}

/**
 * The VirtualCluster cannot get a tenant unless something changes: its name is taken or too long, or its ClusterVersion was
 * deleted.
 */
export function isRefused({ status }: VirtualCluster): boolean {
  return status?.phase === "Error" || status?.reason === "ClusterVersionNotFound"
}

/** Deletes exactly the object that was created, not a later one with the same name. */
export async function removeVirtualCluster(client: KubeClient, { metadata }: VirtualCluster): Promise<void> {
  const { namespace, name = "", uid } = metadata
  try {
    await client.delete(virtualClusters, namespace, name, uid === undefined ? {} : { uid })
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}

export async function getVirtualCluster(client: KubeClient, namespace: string, name: string): Promise<VirtualCluster> {
  try {
    return await client.get<VirtualCluster>(virtualClusters, namespace, name)
  } catch (error) {
    if (isNotFound(error))
      throw new UserError(`there is no tenant "${name}" in namespace "${namespace}"`, { cause: error })
    throw error
  }
}

/** Waits until `done` returns a value for the object (undefined: it is deleted). Fails after `timeoutMs`. */
export async function waitForVirtualCluster<T>(
  client: KubeClient,
  namespace: string,
  name: string,
  timeoutMs: number,
  done: (object: VirtualCluster | undefined) => T | undefined,
  what: "ready" | "gone" = "ready",
): Promise<T> {
  const signal = AbortSignal.timeout(timeoutMs)
  let message = ""
  const look = (object: VirtualCluster | undefined): T | undefined => {
    const text = object?.status?.message
    message = text === undefined || text === "" ? "" : `: ${text}`
    return done(object)
  }
  const of = { namespace, fieldSelector: `metadata.name=${name}`, signal }
  try {
    while (!signal.aborted) {
      const list = await client.list<VirtualCluster>(virtualClusters, of)
      const now = look(list.items[0])
      if (now !== undefined) return now
      const { resourceVersion } = list.metadata
      for await (const { type, object } of client.watch<VirtualCluster>(virtualClusters, { ...of, resourceVersion })) {
        const result = look(type === "DELETED" ? undefined : object)
        if (result !== undefined) return result
      }
    }
  } catch (error) {
    if (!signal.aborted || error instanceof UserError) throw error
    // Timed out during a request: reported below.
  }
  const advice = `kubectl describe virtualcluster ${name} -n ${namespace} tells its state`
  throw new UserError(`tenant "${name}" was not ${what} within ${timeoutMs / 1000} s${message}; ${advice}`)
}

export async function readKubeconfig(client: KubeClient, cluster: VirtualCluster): Promise<string> {
  const name = cluster.metadata.name ?? ""
  const namespace = cluster.status?.clusterNamespace
  if (cluster.status?.phase !== "Running" || namespace === undefined) {
    throw new UserError(
      `tenant "${name}" is ${cluster.status?.phase ?? "Pending"}${cluster.status?.message === undefined ? "" : `: ${cluster.status.message}`}`,
    )
  }
  const secret = await client.get<Secret>(secrets, namespace, "admin-kubeconfig")
  const text = secret.data?.["admin-kubeconfig"]
  if (text === undefined) throw new UserError(`secret ${namespace}/admin-kubeconfig has no key admin-kubeconfig`)
  return Buffer.from(text, "base64").toString("utf8")
}
