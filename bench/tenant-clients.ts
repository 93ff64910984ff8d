// Tenants as a bench makes them: VirtualCluster objects over TLS, each with a client of its own.

import type { KubeObject, Secret } from "../apimachinery/object.ts"
import { isExpired } from "../apimachinery/status.ts"
import { createHttpClient } from "../client/http-client.ts"
import { loadKubeconfig } from "../client/kubeconfig.ts"
import { secrets, virtualClusters } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Polyplane } from "../test/harness/polyplane.ts"

interface VirtualCluster extends KubeObject {
  spec: { clusterVersionName: string }
  status?: { phase?: string; clusterNamespace?: string; message?: string }
}

export type Client = KubeClient & AsyncDisposable

export async function adminClient(up: Polyplane): Promise<Client> {
  return createHttpClient(await loadKubeconfig(up.kubeconfig("admin")))
}

/** One watch over all VirtualClusters, so that making one costs no poll. */
export class TenantMaker implements AsyncDisposable {
  readonly #client: KubeClient
  readonly #waiting = new Map<string, (cluster: VirtualCluster) => void>()
  readonly #stopped = new AbortController()
  #watching: Promise<void> = Promise.resolve()

  private constructor(client: KubeClient) {
    this.#client = client
  }

  static async start(client: KubeClient): Promise<TenantMaker> {
    const maker = new TenantMaker(client)
    const { metadata } = await client.list<VirtualCluster>(virtualClusters)
    maker.#watching = maker.#watch(metadata.resourceVersion)
    return maker
  }

  /** A watch ends after five to ten minutes, as client-go's do, and goes on from what has been seen, or from a new list. */
  async #watch(from: string): Promise<void> {
    const { signal } = this.#stopped
    for (let resourceVersion = from; !signal.aborted;) {
      const options = { resourceVersion, allowBookmarks: true, signal }
      try {
        for await (const { type, object } of this.#client.watch<VirtualCluster>(virtualClusters, options)) {
          resourceVersion = object.metadata.resourceVersion ?? resourceVersion
          if (type !== "BOOKMARK") this.#see(object)
        }
      } catch (error) {
        if (!isExpired(error)) throw error
        const { items, metadata } = await this.#client.list<VirtualCluster>(virtualClusters)
        items.forEach((cluster) => this.#see(cluster))
        resourceVersion = metadata.resourceVersion
      }
    }
  }

  #see(cluster: VirtualCluster): void {
    if (cluster.status?.phase === "Running") this.#waiting.get(cluster.metadata.name ?? "")?.(cluster)
  }

  /** From nothing to a client of the new tenant. */
  async make(name: string): Promise<Client> {
    const running = new Promise<VirtualCluster>((resolve) => this.#waiting.set(name, resolve))
    await this.#client.create<VirtualCluster>(virtualClusters, {
      apiVersion: "tenancy.x-k8s.io/v1alpha1",
      kind: "VirtualCluster",
      metadata: { name, namespace: "default" },
      spec: { clusterVersionName: "default" },
    })
    const cluster = await running
    this.#waiting.delete(name)
    const secret = await this.#client.get<Secret>(secrets, cluster.status?.clusterNamespace, "admin-kubeconfig")
    const kubeconfig = Buffer.from(secret.data?.["admin-kubeconfig"] ?? "", "base64").toString("utf8")
    return createHttpClient(await loadKubeconfig(kubeconfig))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort()
    await this.#watching
  }
}
