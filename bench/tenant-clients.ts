// Tenants of a bench: VirtualCluster objects created over TLS, each with its own client.

import type { KubeObject, Secret } from "../apimachinery/object.ts"
import { createHttpClient } from "../client/http/client.ts"
import { loadKubeconfig } from "../client/credentials/kubeconfig.ts"
import { silentLog } from "../client/log.ts"
import { reflect } from "../client/informers/reflector.ts"
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

/** Uses one watch over all VirtualClusters, so that creating one needs no polling. */
export class TenantMaker implements AsyncDisposable {
  readonly #client: KubeClient
  readonly #waiting = new Map<string, (cluster: VirtualCluster) => void>()
  readonly #stopped = new AbortController()
  readonly #watching: Promise<void>

  private constructor(client: KubeClient, listed: () => void) {
    this.#client = client
    this.#watching = reflect<VirtualCluster>({
      client,
      resource: virtualClusters,
      sink: {
        restarted: () => undefined,
        changed: (_, cluster) => this.#see(cluster),
        synced: listed,
      },
      signal: this.#stopped.signal,
      log: { ...silentLog, warn: (fields, message) => console.error(message, fields) },
    })
  }

  static async start(client: KubeClient): Promise<TenantMaker> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const maker = new TenantMaker(client, resolve)
    await promise
    return maker
  }

  #see(cluster: VirtualCluster): void {
    if (cluster.status?.phase === "Running") this.#waiting.get(cluster.metadata.name ?? "")?.(cluster)
  }

  /** Creates a tenant and returns a client of it. */
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
    return this.#connect(cluster)
  }

  /** Another client of a tenant that has been made. */
  async connect(name: string): Promise<Client> {
    return this.#connect(await this.#client.get<VirtualCluster>(virtualClusters, "default", name))
  }

  async #connect({ status }: VirtualCluster): Promise<Client> {
    const secret = await this.#client.get<Secret>(secrets, status?.clusterNamespace, "admin-kubeconfig")
    const kubeconfig = Buffer.from(secret.data?.["admin-kubeconfig"] ?? "", "base64").toString("utf8")
    return createHttpClient(await loadKubeconfig(kubeconfig))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort()
    await this.#watching
  }
}
