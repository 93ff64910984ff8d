// Operator and syncer with real control planes: a gateway that serves both the super cluster and the tenant.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { KubeObject, Pod, Service } from "../apimachinery/object.ts"
import { isNotFound } from "../apimachinery/status.ts"
import { clusterLabel, rootCAConfigMap, superConfigMapName, superNamespace } from "../apimachinery/tenancy.ts"
import {
  configMaps,
  namespaces,
  networkPolicies,
  nodes,
  pods,
  serviceAccounts,
  services,
  virtualClusters,
} from "../client/resources.ts"
import type { KubeClient, Resource } from "../client/rest.ts"
import { countingAddresses, startTestGateway, type TestGateway } from "../gateway/testing/start-gateway.ts"
import { startOperator, type VirtualCluster } from "../operator/main.ts"
import { eventually } from "../test/harness/eventually.ts"
import { createServiceAddresses, startSyncer, SuperNamespaces, type Syncer } from "./main.ts"

const object = <T extends KubeObject>(apiVersion: string, kind: string, metadata: object, more: object = {}): T =>
  ({ apiVersion, kind, metadata, ...more }) as unknown as T

/** Polls until the object exists and satisfies the condition. */
const until = <T extends KubeObject>(
  client: KubeClient,
  [resource, namespace, name]: [Resource, string | undefined, string],
  wanted: (found: T) => boolean = () => true,
): Promise<T> => {
  const find = async (): Promise<T | undefined> => {
    const found = await client.get<T>(resource, namespace, name)
    return wanted(found) ? found : undefined
  }
  return eventually(find, { what: `${resource.resource} ${namespace}/${name} is as wanted` })
}

const untilGone = (client: KubeClient, resource: Resource, namespace: string, name: string): Promise<true> => {
  const isGone = (): Promise<boolean> => client.get(resource, namespace, name).then(() => false, isNotFound)
  return eventually(isGone, { what: `${resource.resource} ${namespace}/${name} is gone` })
}

describe("with real control planes", () => {
  const stack = new AsyncDisposableStack()
  let gateway: TestGateway
  let superClient: KubeClient
  let syncer: Syncer
  let client: KubeClient
  let key: string
  let home: string

  beforeAll(async () => {
    gateway = stack.use(
      await startTestGateway({
        serviceAddresses: (tenant) =>
          tenant === undefined
            ? countingAddresses()
            : createServiceAddresses(superClient, tenant, {
                superNamespaces: new SuperNamespaces(() => superClient),
                tenantClient: () => gateway.gateway.tenants.client(tenant.name),
              }),
      }),
    )
    const { tenants, superCluster } = gateway.gateway
    superClient = superCluster!.client
    const operator = stack.use(await startOperator({ superClient, tenants }))
    await operator.whenReady()
    syncer = stack.use(await startSyncer({ superClient, tenants, networkPolicies: "allow" }))
    await syncer.whenSynced()
    await superClient.create(nodes, object("v1", "Node", { name: "node-1", labels: { zone: "a" } }, { spec: {} }))
    const spec = { clusterVersionName: "default" }
    await superClient.create(
      virtualClusters,
      object("tenancy.x-k8s.io/v1alpha1", "VirtualCluster", { name: "acme", namespace: "default" }, { spec }),
    )
    const isRunning = ({ status }: VirtualCluster): boolean => status?.phase === "Running"
    const made = await until<VirtualCluster>(superClient, [virtualClusters, "default", "acme"], isRunning)
    key = made.status!.clusterNamespace!
    home = superNamespace(key, "default")
    client = tenants.client("acme")
    tenants.wake("acme") // as its first request does
  })

  afterAll(() => stack.disposeAsync())

  test("a tenant sees the nodes", async () => {
    const node = await until(client, [nodes, undefined, "node-1"])
    expect(node.metadata.labels?.["zone"]).toBe("a")
  })

  test("the response to a service's creation has the super cluster's address", async () => {
    const spec = { selector: { "app.kubernetes.io/name": "web" }, ports: [{ port: 80 }] }
    const made = await client.create<Service>(
      services,
      object("v1", "Service", { name: "web", namespace: "default" }, { spec }),
    )
    const copy = await superClient.get<Service>(services, home, "web")
    expect(made.spec?.clusterIP).toBe(copy.spec?.clusterIP)
    expect(copy.spec?.selector).toEqual(spec.selector)
  })

  test("a dry run has an address of the super cluster, which stores nothing", async () => {
    const attempt = (namespace: string): Promise<Service> => {
      const tried = object<Service>("v1", "Service", { name: "tried", namespace }, { spec: { ports: [{ port: 80 }] } })
      return client.create<Service>(services, tried, { dryRun: true })
    }
    expect((await attempt("default")).spec?.clusterIP).toMatch(/^10\.96\./)
    await expect(superClient.get(services, home, "tried")).rejects.toMatchObject({ reason: "NotFound" })
    // Not even a namespace, without which there is no address to be had.
    expect((await attempt("kube-public")).spec?.clusterIP).toBeUndefined()
    const unused = superNamespace(key, "kube-public")
    await expect(superClient.get(namespaces, undefined, unused)).rejects.toMatchObject({ reason: "NotFound" })
  })

  test("a service has the super cluster's IP families, also after they change", async () => {
    const change = { spec: { ipFamilyPolicy: "PreferDualStack" } }
    const changed = await client.patch<Service>(services, "default", "web", change, { type: "merge" })
    expect(changed.spec?.ipFamilyPolicy).toBe("PreferDualStack")
    expect((await superClient.get<Service>(services, home, "web")).spec?.ipFamilyPolicy).toBe("PreferDualStack")
  })

  test("a tenant's initial objects are copied only when another object needs them", async () => {
    const unused = superNamespace(key, "kube-public")
    const names = async () => (await superClient.list(namespaces)).items.map(({ metadata }) => metadata.name)
    await until(client, [nodes, undefined, "node-1"])
    await syncer.patrol()
    expect(await names()).not.toContain(unused)
    await client.create(configMaps, object("v1", "ConfigMap", { name: "info", namespace: "kube-public" }))
    await until(superClient, [configMaps, unused, "info"])
    expect(await names()).toContain(unused)
  })

  test("a pod is copied, its node and status are copied back, and its deletion completes", async () => {
    await until(client, [serviceAccounts, "default", "default"])
    const labels = { "app.kubernetes.io/name": "web" }
    await client.create<Pod>(
      pods,
      object(
        "v1",
        "Pod",
        { name: "web", namespace: "default", labels },
        { spec: { containers: [{ name: "main", image: "nginx" }] } },
      ),
    )
    const copy = await until<Pod>(superClient, [pods, home, "web"])
    await superClient.get(serviceAccounts, home, "default")
    await superClient.get(configMaps, home, superConfigMapName(rootCAConfigMap))
    expect(copy.metadata.labels).toMatchObject(labels)
    expect(copy.spec?.containers[0]?.env?.map(({ name }) => name)).toContain("KUBERNETES_SERVICE_HOST")
    const target = { apiVersion: "v1", kind: "Node", name: "node-1" }
    const binding = object("v1", "Binding", { name: "web", namespace: home }, { target })
    await superClient.create(pods, binding, { subresource: "binding" })
    const status = { phase: "Running", podIP: "10.1.0.7", podIPs: [{ ip: "10.1.0.7" }] }
    await superClient.patch(pods, home, "web", { status }, { type: "merge", subresource: "status" })
    const running = await until<Pod>(client, [pods, "default", "web"], (pod) => pod.status?.phase === "Running")
    expect(running.spec?.nodeName).toBe("node-1")
    expect(running.status?.podIP).toBe("10.1.0.7")
    await client.delete(pods, "default", "web", { gracePeriodSeconds: 5 })
    const leaving = await until<Pod>(
      superClient,
      [pods, home, "web"],
      (pod) => pod.metadata.deletionTimestamp !== undefined,
    )
    expect(leaving.metadata.deletionGracePeriodSeconds).toBe(5)
    await superClient.delete(pods, home, "web", { gracePeriodSeconds: 0 })
    await untilGone(client, pods, "default", "web")
  })

  test("a pod with matchLabelKeys is copied with the selectors of its creation", async () => {
    const keys = { topologyKey: "zone", labelSelector: {}, matchLabelKeys: ["app"] }
    const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [{ ...keys, mismatchLabelKeys: ["team"] }] }
    const spec = {
      containers: [{ name: "main", image: "nginx" }],
      affinity: { podAffinity },
      topologySpreadConstraints: [{ ...keys, maxSkew: 1, whenUnsatisfiable: "ScheduleAnyway" }],
    }
    const metadata = { name: "apart", namespace: "default", labels: { app: "a", team: "t" } }
    const made = await client.create<Pod>(pods, object("v1", "Pod", metadata, { spec }))
    const copy = await until<Pod>(superClient, [pods, home, "apart"])
    const [own, inSuper] = [made, copy].map(({ spec: { affinity, topologySpreadConstraints } = { containers: [] } }) =>
      [affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution, topologySpreadConstraints].map(
        (all) => all?.[0]?.labelSelector?.matchExpressions,
      ),
    )
    expect(inSuper).toEqual(own)
    expect(own?.map((expressions) => expressions?.length)).toEqual([2, 1])
    const agree = async (): Promise<boolean> => !(await syncer.patrol()).enqueued.has("pods")
    await eventually(agree, { what: "the patrol sees no difference between pods" })
    await client.delete(pods, "default", "apart")
    await untilGone(superClient, pods, home, "apart")
  })

  test("a network policy is copied with the server's defaults", async () => {
    const spec = {
      podSelector: { matchLabels: {} },
      ingress: [{ from: [], ports: [{ port: 80 }] }, { from: [{ podSelector: {}, namespaceSelector: {} }] }],
      egress: [],
    }
    const metadata = { name: "web", namespace: "default" }
    await client.create(networkPolicies, object("networking.k8s.io/v1", "NetworkPolicy", metadata, { spec }))
    const copy = await until(superClient, [networkPolicies, home, "web"])
    const namespaceSelector = { matchLabels: { [clusterLabel]: key } }
    expect(copy["spec"]).toEqual({
      podSelector: {},
      policyTypes: ["Ingress"],
      ingress: [{ ports: [{ port: 80, protocol: "TCP" }] }, { from: [{ podSelector: {}, namespaceSelector }] }],
    })
  })

  test("a patrol finds no differences afterwards", async () => {
    const agree = async (): Promise<boolean> => {
      const { enqueued, compared } = await syncer.patrol()
      return enqueued.size === 0 && compared > 0
    }
    await eventually(agree, { what: "nothing differs" })
  })

  test("deleting the VirtualCluster removes the tenant and its namespaces", async () => {
    await superClient.delete(virtualClusters, "default", "acme")
    await untilGone(superClient, virtualClusters, "default", "acme")
    expect(gateway.gateway.tenants.get("acme")).toBeUndefined()
    // No namespace controller runs in this super cluster, so the namespaces only become Terminating.
    const { items } = await superClient.list(namespaces)
    const left = items.filter(({ metadata }) => metadata.name?.startsWith(key))
    expect(left.every(({ metadata }) => metadata.deletionTimestamp !== undefined)).toBe(true)
  })
})
