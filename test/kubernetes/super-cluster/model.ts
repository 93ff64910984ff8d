// What tenants' users, and those who administer the super cluster, do at random.

import { setTimeout as delay } from "node:timers/promises"
import { chance, pick, type Random } from "../../../apimachinery/testing/random.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { StatusError } from "../../../apimachinery/status.ts"
import { adminKubeconfigSecret, clusterLabel, controlledLabel } from "../../../apimachinery/tenancy.ts"
import type { HttpClient } from "../../../client/http/client.ts"
import {
  configMaps,
  deployments,
  namespaces,
  persistentVolumeClaims,
  pods,
  secrets,
  serviceAccounts,
  services,
  virtualClusters,
} from "../../../client/resources.ts"
import type { KubeClient, Resource } from "../../../client/rest.ts"
import { connectTenant, keyOfVirtualCluster, ofUser } from "./mirror.ts"

const tenantNames = ["one", "two", "three"]
const homes = ["default", "default", "apps", "more"]
const names = ["a", "b", "c"]

interface ModelOptions {
  random: Random
  superClient: KubeClient
  /** Whether copies are changed and deleted in the super cluster, and kubeconfigs. */
  admin?: boolean
  /** Whether VirtualClusters are created and deleted. Default true. */
  tenants?: boolean
  /** URL of the gateway that is asked for tenants. Default: the one that their kubeconfigs name. */
  gateway?: () => string
  log?: (line: string) => void
}

/** Each step does something that a server may refuse: what has been done is read from the servers at the end. */
export class Model implements AsyncDisposable {
  readonly #options: ModelOptions
  readonly #clients = new Map<string, HttpClient>()

  constructor(options: ModelOptions) {
    this.#options = options
  }

  async step(): Promise<void> {
    const { random, admin = false, tenants = true } = this.#options
    const one = random(100)
    if (tenants && one < 4) return this.#attempt("tenant", () => this.#changeTenants())
    if (admin && one < 20) return this.#attempt("admin", () => this.#meddle())
    await this.#attempt("user", () => this.#use())
  }

  async createTenant(name: string): Promise<void> {
    await this.#options.superClient.create(virtualClusters, {
      apiVersion: "tenancy.x-k8s.io/v1alpha1",
      kind: "VirtualCluster",
      metadata: { namespace: "default", name },
      spec: { clusterVersionName: "default" },
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients.values()) await client[Symbol.asyncDispose]()
  }

  async #attempt(who: string, work: () => Promise<string>): Promise<void> {
    const { log } = this.#options
    try {
      log?.(`${who}: ${await work()}`)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      log?.(`${who}: refused: ${error.message}`)
    }
  }

  async #virtualClusters(): Promise<KubeObject[]> {
    return (await this.#options.superClient.list(virtualClusters)).items
  }

  async #changeTenants(): Promise<string> {
    const { random, superClient } = this.#options
    const name = pick(random, tenantNames)
    const all = await this.#virtualClusters()
    if (all.every(({ metadata }) => metadata.name !== name)) {
      await this.createTenant(name)
      return `create ${name}`
    }
    await superClient.delete(virtualClusters, "default", name)
    return `delete ${name}`
  }

  async #client(): Promise<{ name: string; client: HttpClient } | undefined> {
    const { random, superClient, gateway } = this.#options
    const origin = gateway?.()
    const living = (await this.#virtualClusters()).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    if (living.length === 0) return undefined
    const chosen = pick(random, living)
    const id = `${chosen.metadata.uid} ${origin}`
    let client = this.#clients.get(id)
    if (client === undefined) {
      client = await connectTenant(superClient, chosen, origin)
      if (client === undefined) return undefined
      this.#clients.set(id, client)
    }
    return { name: chosen.metadata.name ?? "", client }
  }

  async #use(): Promise<string> {
    const { random } = this.#options
    // So that syncer and operator get to all that can be between two changes.
    await delay(random(200))
    const found = await this.#client()
    if (found === undefined) return "no tenant"
    const { name: tenant, client } = found
    const namespace = pick(random, homes)
    const name = pick(random, names)
    const what = `${tenant} ${namespace}/${name}`
    const metadata = { namespace, name, labels: ofUser }
    const value = String(random(1000))
    if (chance(random, 0.08) && namespace !== "default") {
      await client.delete(namespaces, undefined, namespace)
      return `${what} delete namespace`
    }
    const [resource, object] = pick<readonly [Resource, KubeObject]>(random, [
      [configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data: { value } }],
      [secrets, { apiVersion: "v1", kind: "Secret", metadata, stringData: { value } }],
      [
        services,
        {
          apiVersion: "v1",
          kind: "Service",
          metadata,
          spec: { selector: { app: name, value }, ports: [{ port: 80 }] },
        },
      ],
      [
        pods,
        {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { ...metadata, labels: { ...ofUser, app: name } },
          spec: { ...podSpec, terminationGracePeriodSeconds: 1 },
        },
      ],
      [serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata }],
      [persistentVolumeClaims, { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec: claimSpec }],
      [deployments, deployment(namespace, name, random(3))],
    ])
    const isGone = chance(random, 0.3)
    if (isGone) {
      await client.delete(resource, namespace, name)
      // As controllers and people do: at once a new one of that name.
      if (chance(random, 0.5)) return `${what} delete ${resource.resource}`
    }
    await this.#ensureNamespace(client, namespace)
    try {
      await client.create(resource, object)
      return `${what} create ${resource.resource}`
    } catch (error) {
      if (!(error instanceof StatusError) || error.code !== 409 || resource === pods) throw error
    }
    await client.patch(resource, namespace, name, object, { type: "merge" })
    return `${what} change ${resource.resource}`
  }

  async #ensureNamespace(client: KubeClient, name: string): Promise<void> {
    if (name === "default") return
    try {
      await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } })
    } catch (error) {
      if (!(error instanceof StatusError) || error.code !== 409) throw error
    }
  }

  /** What people do by mistake in the super cluster: nothing of it may cost a tenant anything. */
  async #meddle(): Promise<string> {
    const { random, superClient } = this.#options
    if (chance(random, 0.2)) {
      const living = await this.#virtualClusters()
      if (living.length === 0) return "no tenant"
      const key = keyOfVirtualCluster(pick(random, living))
      if (chance(random, 0.3)) {
        await superClient.delete(namespaces, undefined, key)
        return `delete root namespace ${key}`
      }
      await superClient.delete(secrets, key, adminKubeconfigSecret)
      return `delete kubeconfig in ${key}`
    }
    if (chance(random, 0.15)) {
      const { items } = await superClient.list(namespaces, { labelSelector: `${clusterLabel},${controlledLabel}=true` })
      if (items.length === 0) return "no namespaces"
      const { name = "" } = pick(random, items).metadata
      await superClient.delete(namespaces, undefined, name)
      return `delete namespace ${name}`
    }
    const resource = pick(random, [configMaps, secrets, services, serviceAccounts, persistentVolumeClaims, pods])
    const { items } = await superClient.list(resource, { labelSelector: `${controlledLabel}=true` })
    if (items.length === 0) return `no ${resource.resource}`
    const { namespace, name = "" } = pick(random, items).metadata
    const what = `${resource.resource} ${namespace}/${name}`
    if (chance(random, 0.5)) {
      await superClient.delete(resource, namespace, name)
      return `delete ${what}`
    }
    const patch = {
      configmaps: { data: { value: "changed", more: "changed" } },
      secrets: { data: { value: "Y2hhbmdlZA==" } },
      services: { spec: { selector: { app: "changed" } } },
      serviceaccounts: { metadata: { annotations: { changed: "true" } } },
      persistentvolumeclaims: { metadata: { labels: { "example.com/of": "changed" } } },
      pods: { metadata: { labels: { app: "changed" } } },
    }[resource.resource]
    await superClient.patch(resource, namespace, name, patch, { type: "merge" })
    return `change ${what}`
  }
}

const claimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
const podSpec = { containers: [{ name: "main", image: "busybox:1" }] }

function deployment(namespace: string, name: string, replicas: number): KubeObject {
  const app = `${name}-of-deployment`
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { namespace, name, labels: ofUser },
    spec: {
      replicas,
      selector: { matchLabels: { app } },
      template: { metadata: { labels: { ...ofUser, app } }, spec: { ...podSpec, terminationGracePeriodSeconds: 1 } },
    },
  }
}
