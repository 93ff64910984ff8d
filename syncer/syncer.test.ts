import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { KubeObject, Pod, Secret, Service } from "../apimachinery/object.ts"
import { forbidden, serviceUnavailable } from "../apimachinery/status.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import {
  configMaps,
  events,
  namespaces,
  nodes,
  persistentVolumeClaims,
  pods,
  secrets,
  serviceAccounts,
  services,
  storageClasses,
} from "../client/resources.ts"
import type { Resource } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"
import { startSyncer, type Syncer } from "./main.ts"
import { eventually } from "../test/harness/eventually.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { FakeTenants, fakeTenant } from "./testing/fake-tenants.ts"

const object = (kind: string, namespace: string | undefined, name: string, more: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  ...more,
})

const podOf = (name: string, spec: object = {}): KubeObject =>
  object("Pod", "default", name, {
    spec: { serviceAccountName: "default", containers: [{ name: "main", image: "nginx:1" }], ...spec },
  })

const named = (name: string) => ({ matchFields: [{ key: "metadata.name", operator: "In", values: [name] }] })

describe("the syncer", () => {
  let superCluster: FakeCluster
  let tenants: FakeTenants
  let tenant: Tenant
  let cluster: FakeCluster
  let syncer: Syncer
  let home: string

  async function start(): Promise<void> {
    syncer = await startSyncer({ tenants, superClient: superCluster, patrolPeriodMs: 3_600_000 })
    await syncer.whenSynced()
  }

  /** No key is queued or being processed. */
  async function settled(): Promise<void> {
    await syncer.patrol()
    await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  }

  beforeEach(async () => {
    superCluster = new FakeCluster({ isSuper: true })
    tenants = new FakeTenants()
    tenant = fakeTenant("acme")
    home = superNamespace(tenant.clusterKey, "default")
    cluster = tenants.add(tenant)
    await cluster.create(namespaces, object("Namespace", undefined, "default"))
    await cluster.create(serviceAccounts, object("ServiceAccount", "default", "default"))
    await cluster.create(
      services,
      object("Service", "default", "kubernetes", { spec: { clusterIP: "10.0.0.1", ports: [{ port: 443 }] } }),
    )
    await superCluster.create(
      nodes,
      object("Node", undefined, "node-1", { spec: {}, metadata: { name: "node-1", labels: { zone: "a" } } }),
    )
    superCluster.edit(nodes, undefined, "node-1", {
      status: { capacity: { cpu: "8" }, conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "1" }] },
    })
    await start()
  })

  afterEach(async () => {
    await syncer[Symbol.asyncDispose]()
  })

  const inSuper = <T extends KubeObject>(resource: Resource, name: string): Promise<T> =>
    eventually(() => superCluster.find<T>(resource, home, name), { what: `${resource.resource} ${name} in super` })

  test("publishes all nodes to a tenant from the start", async () => {
    const node = await eventually(() => cluster.find(nodes, undefined, "node-1"), { what: "node-1" })
    expect(node.metadata.labels).toMatchObject({ zone: "a", "tenancy.x-k8s.io/virtualnode": "true" })
    await eventually(() => cluster.find(nodes, undefined, "node-1")?.["status"], { what: "its status" })
  })

  test("does not copy a node's heartbeat", async () => {
    await settled()
    const before = cluster.writes.length
    superCluster.edit(nodes, undefined, "node-1", {
      status: { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "2" }] },
    })
    await settled()
    expect(cluster.writes.slice(before)).toEqual([])
  })

  test("removes a node that super has deleted", async () => {
    await eventually(() => cluster.find(nodes, undefined, "node-1"), { what: "node-1" })
    superCluster.remove(nodes, undefined, "node-1")
    await eventually(() => cluster.find(nodes, undefined, "node-1") === undefined, { what: "node-1 is gone" })
  })

  test("publishes only the default storage class", async () => {
    const isDefault = { "storageclass.kubernetes.io/is-default-class": "true" }
    await superCluster.create(storageClasses, {
      ...object("StorageClass", undefined, "fast", { provisioner: "p" }),
      metadata: { name: "fast", annotations: isDefault },
    })
    await superCluster.create(storageClasses, object("StorageClass", undefined, "private", { provisioner: "p" }))
    await eventually(() => cluster.find(storageClasses, undefined, "fast"), { what: "fast" })
    await settled()
    expect(cluster.find(storageClasses, undefined, "private")).toBeUndefined()
  })

  test("runs a pod: copies it, binds it and copies its status back", async () => {
    await cluster.create(pods, podOf("web"))
    const superPod = await inSuper<Pod>(pods, "web")
    expect(superPod.metadata.annotations).toMatchObject({
      "tenancy.x-k8s.io/cluster": tenant.clusterKey,
      "tenancy.x-k8s.io/namespace": "default",
      "tenancy.x-k8s.io/uid": cluster.find(pods, "default", "web")?.metadata.uid,
    })
    superCluster.edit(pods, home, "web", {
      spec: { nodeName: "node-1" },
      status: { phase: "Running", podIP: "10.1.0.1", newField: true },
    })
    const running = await eventually(
      () => {
        const pod = cluster.find<Pod>(pods, "default", "web")
        return pod?.status?.phase === "Running" ? pod : undefined
      },
      { what: "running" },
    )
    expect(running.spec?.nodeName).toBe("node-1")
    expect(running.status).toMatchObject({ podIP: "10.1.0.1", newField: true })
  })

  test("reports to the tenant why a pod is not scheduled", async () => {
    await cluster.create(pods, podOf("big"))
    await inSuper(pods, "big")
    const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes" }
    superCluster.edit(pods, home, "big", { status: { phase: "Pending", conditions: [condition] } })
    await eventually(() => cluster.find<Pod>(pods, "default", "big")?.status?.conditions?.[0], {
      what: "the condition",
    })
    expect(cluster.find<Pod>(pods, "default", "big")?.status?.conditions).toEqual([condition])
  })

  test("deletes a running pod in super first, with the same grace period, then in the tenant", async () => {
    await running("web")
    await cluster.delete(pods, "default", "web", { gracePeriodSeconds: 7 })
    const leaving = await eventually(
      () => {
        const pod = superCluster.find(pods, home, "web")
        return pod?.metadata.deletionTimestamp === undefined ? undefined : pod
      },
      { what: "deleting in super" },
    )
    expect(leaving.metadata.deletionGracePeriodSeconds).toBe(7)
    await settled()
    expect(cluster.find(pods, "default", "web")).toBeDefined()
    superCluster.remove(pods, home, "web")
    await eventually(() => cluster.find(pods, "default", "web") === undefined, { what: "gone in the tenant" })
  })

  test("removes a deleted pod whose copy was lost unnoticed", async () => {
    await running("web")
    await syncer[Symbol.asyncDispose]()
    await cluster.delete(pods, "default", "web", { gracePeriodSeconds: 30 })
    superCluster.remove(pods, home, "web")
    await start()
    await eventually(() => cluster.find(pods, "default", "web") === undefined, { what: "gone in the tenant" })
  })

  test("finishes a deleted pod only once while finalizers still hold it", async () => {
    const { metadata } = await running("web")
    cluster.edit(pods, "default", "web", { metadata: { ...metadata, finalizers: ["example.com/hold"] } })
    await cluster.delete(pods, "default", "web", { gracePeriodSeconds: 30 })
    superCluster.remove(pods, home, "web")
    const held = () => cluster.find(pods, "default", "web")?.metadata.deletionGracePeriodSeconds
    await eventually(() => held() === 0, { what: "finished" })
    await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
    expect((await syncer.patrol()).enqueued.get("pods")).toBeUndefined()
  })

  test("recreates a running pod's copy on its node when it is deleted by hand", async () => {
    const before = await running("web")
    superCluster.remove(pods, home, "web")
    const again = await inSuper<Pod>(pods, "web")
    expect(again.spec?.nodeName).toBe("node-1")
    expect(cluster.find(pods, "default", "web")?.metadata.uid).toBe(before.metadata.uid)
  })

  test("fails an evicted pod instead of deleting it", async () => {
    await running("web")
    const evicted = { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI", message: "drained" }
    superCluster.edit(pods, home, "web", { status: { conditions: [evicted] } })
    await eventually(() => cluster.find<Pod>(pods, "default", "web")?.status?.conditions?.length, { what: "condition" })
    superCluster.remove(pods, home, "web")
    const failed = await eventually(
      () => {
        const pod = cluster.find<Pod>(pods, "default", "web")
        return pod?.status?.phase === "Failed" ? pod : undefined
      },
      { what: "failed" },
    )
    expect(failed.status?.reason).toBe("EvictionByEvictionAPI")
    await settled()
    expect(superCluster.find(pods, home, "web")).toBeUndefined()
  })

  test("gives a pod short-lived tokens and removes them with the pod", async () => {
    const volume = {
      name: "kube-api-access-x",
      projected: { sources: [{ serviceAccountToken: { path: "token", expirationSeconds: 3607 } }] },
    }
    const pod = await cluster.create(pods, podOf("web", { volumes: [volume] }))
    const superPod = await inSuper<Pod>(pods, "web")
    const source = superPod.spec?.volumes?.[0]?.projected?.sources?.[0]?.secret
    const secret = superCluster.find<Secret>(secrets, home, source?.name ?? "")
    expect(source?.items).toEqual([{ key: "token-0-0", path: "token" }])
    expect(Buffer.from(secret?.data?.["token-0-0"] ?? "", "base64").toString()).toMatch(/^token-/)
    expect(secret?.metadata.annotations?.["tenancy.x-k8s.io/token.pod-uid"]).toBe(pod.metadata.uid)
    await settled()
    expect(superCluster.find(secrets, home, source?.name ?? "")).toBeDefined()
    await cluster.delete(pods, "default", "web")
    await eventually(() => superCluster.find(secrets, home, source?.name ?? "") === undefined, { what: "tokens gone" })
  })

  test("keeps a webhook's sidecar and copies a new image", async () => {
    await cluster.create(pods, podOf("web"))
    const superPod = await inSuper<Pod>(pods, "web")
    const containers = [...(superPod.spec?.containers ?? []), { name: "sidecar", image: "mesh:1" }]
    superCluster.edit(pods, home, "web", { spec: { containers } })
    await settled()
    cluster.edit(pods, "default", "web", { spec: { containers: [{ name: "main", image: "nginx:2" }] } })
    const images = (): string[] =>
      superCluster.find<Pod>(pods, home, "web")?.spec?.containers.map(({ image }) => image ?? "") ?? []
    await eventually(() => images().includes("nginx:2"), { what: "the new image" })
    expect(images()).toEqual(["nginx:2", "mesh:1"])
  })

  test("restores a copy that was changed by hand, and keeps the keys of others", async () => {
    await cluster.create(configMaps, object("ConfigMap", "default", "settings", { data: { a: "1" } }))
    await inSuper(configMaps, "settings")
    superCluster.edit(configMaps, home, "settings", { data: { a: "2", b: "3" }, metadata: { labels: { cni: "x" } } })
    await eventually(
      () => {
        const data = superCluster.find(configMaps, home, "settings")?.["data"] as Record<string, string>
        return data["a"] === "1" && data["b"] === undefined
      },
      { what: "repaired" },
    )
    expect(superCluster.find(configMaps, home, "settings")?.metadata.labels).toMatchObject({ cni: "x" })
  })

  test("renames the root CA and keeps super's own", async () => {
    await superCluster.create(
      configMaps,
      object("ConfigMap", home, "kube-root-ca.crt", { data: { "ca.crt": "super" } }),
    )
    await cluster.create(
      configMaps,
      object("ConfigMap", "default", "kube-root-ca.crt", { data: { "ca.crt": "tenant" } }),
    )
    const copy = await inSuper(configMaps, "tenant-kube-root-ca.crt")
    expect(copy["data"]).toEqual({ "ca.crt": "tenant" })
    expect(superCluster.find(configMaps, home, "kube-root-ca.crt")?.["data"]).toEqual({ "ca.crt": "super" })
  })

  test("separates a tenant's object from the copy of its root CA of the same name", async () => {
    const named = (name: string) => object("ConfigMap", "default", name, { data: { name } })
    await cluster.create(configMaps, named("tenant-kube-root-ca.crt"))
    await cluster.create(configMaps, named("kube-root-ca.crt"))
    const mine = await inSuper(configMaps, "tenant-tenant-kube-root-ca.crt")
    expect(mine["data"]).toEqual({ name: "tenant-kube-root-ca.crt" })
    expect((await inSuper(configMaps, "tenant-kube-root-ca.crt"))["data"]).toEqual({ name: "kube-root-ca.crt" })
    await cluster.delete(configMaps, "default", "tenant-kube-root-ca.crt")
    const isGone = () => superCluster.find(configMaps, home, "tenant-tenant-kube-root-ca.crt") === undefined
    await eventually(isGone, { what: "the tenant's own is gone" })
    expect(superCluster.find(configMaps, home, "tenant-kube-root-ca.crt")).toBeDefined()
  })

  test("adopts the default service account that super created", async () => {
    await cluster.create(namespaces, object("Namespace", undefined, "apps"))
    const apps = superNamespace(tenant.clusterKey, "apps")
    await eventually(() => superCluster.find(namespaces, undefined, apps), { what: "namespace" })
    await superCluster.create(serviceAccounts, object("ServiceAccount", apps, "default"))
    const account = await cluster.create(serviceAccounts, object("ServiceAccount", "apps", "default"))
    await eventually(
      () => {
        const annotations = superCluster.find(serviceAccounts, apps, "default")?.metadata.annotations
        return annotations?.["tenancy.x-k8s.io/uid"] === account.metadata.uid
      },
      { what: "adopted" },
    )
  })

  test("never overwrites objects that are not copies, and reports them", async () => {
    await superCluster.create(secrets, object("Secret", home, "taken", { data: { a: "c3VwZXI=" } }))
    await cluster.create(secrets, object("Secret", "default", "taken", { data: { a: "dGVuYW50" } }))
    await eventually(() => cluster.all(events).find((event) => event["reason"] === "FailedSync"), { what: "an event" })
    expect(superCluster.find<Secret>(secrets, home, "taken")?.data).toEqual({ a: "c3VwZXI=" })
  })

  test("does not copy an unsupported pod and reports why; the pod can be deleted", async () => {
    await cluster.create(pods, podOf("gpu", { resourceClaims: [{ name: "gpu", resourceClaimName: "mine" }] }))
    const event = await eventually(() => cluster.all(events).find(({ reason }) => reason === "FailedSync"), {
      what: "an event",
    })
    expect(event).toMatchObject({ involvedObject: { kind: "Pod", name: "gpu" } })
    expect(event["message"]).toMatch(/^spec\.resourceClaims: /)
    expect(superCluster.find(pods, home, "gpu")).toBeUndefined()
    const uid = cluster.find(pods, "default", "gpu")?.metadata.uid ?? ""
    await cluster.delete(pods, "default", "gpu", { uid, gracePeriodSeconds: 30 })
    await eventually(() => cluster.find(pods, "default", "gpu") === undefined, { what: "it is gone" })
  })

  test("reports a volume attributes class that is set on a bound claim", async () => {
    await cluster.create(persistentVolumeClaims, object("PersistentVolumeClaim", "default", "data", { spec: {} }))
    await inSuper(persistentVolumeClaims, "data")
    await settled()
    expect(cluster.all(events)).toEqual([])
    cluster.edit(persistentVolumeClaims, "default", "data", { spec: { volumeAttributesClassName: "gold" } })
    await eventually(() => cluster.all(events).find(({ reason }) => reason === "FailedSync"), { what: "an event" })
    expect(superCluster.find(persistentVolumeClaims, home, "data")).toBeDefined()
  })

  test("writes nothing into a namespace of that name that is not the tenant's", async () => {
    const apps = superNamespace(tenant.clusterKey, "apps")
    await superCluster.create(namespaces, object("Namespace", undefined, apps))
    await cluster.create(namespaces, object("Namespace", undefined, "apps"))
    await cluster.create(configMaps, object("ConfigMap", "apps", "settings", { data: { a: "1" } }))
    await eventually(() => cluster.all(events).length > 0, { what: "an event" })
    await settled()
    expect(superCluster.find(namespaces, undefined, apps)?.metadata.annotations).toBeUndefined()
    expect(superCluster.find(configMaps, apps, "settings")).toBeUndefined()
  })

  test("removes the copy of an earlier object of the same name before it creates the new one", async () => {
    const first = await cluster.create(configMaps, object("ConfigMap", "default", "one", { data: { a: "1" } }))
    await inSuper(configMaps, "one")
    await syncer[Symbol.asyncDispose]()
    cluster.remove(configMaps, "default", "one")
    const second = await cluster.create(configMaps, object("ConfigMap", "default", "one", { data: { a: "2" } }))
    await start()
    await eventually(
      () => {
        const uid = superCluster.find(configMaps, home, "one")?.metadata.annotations?.["tenancy.x-k8s.io/uid"]
        return uid === second.metadata.uid && uid !== first.metadata.uid
      },
      { what: "the new copy" },
    )
  })

  test("reschedules a pending pod when the tenant labels a node", async () => {
    await eventually(() => cluster.find(nodes, undefined, "node-1"), { what: "node-1" })
    await cluster.create(pods, podOf("web", { nodeSelector: { color: "blue" } }))
    const before = await inSuper<Pod>(pods, "web")
    expect(before.spec?.nodeSelector).toEqual({ color: "blue" })
    cluster.edit(nodes, undefined, "node-1", { metadata: { labels: { color: "blue" } } })
    const after = await eventually(
      () => {
        const found = superCluster.find<Pod>(pods, home, "web")
        return found?.metadata.uid === before.metadata.uid ? undefined : found
      },
      { what: "another copy" },
    )
    expect(after.spec).toMatchObject({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [named("node-1")],
          },
        },
      },
    })
    await settled()
    expect(cluster.find(nodes, undefined, "node-1")?.metadata.labels).toMatchObject({ color: "blue", zone: "a" })
  })

  describe("a node that the tenant brought itself", () => {
    const onOwn = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [named("own-1")] } }

    test("runs its pods alone: no copies, its statuses stay, and its kubelet ends them", async () => {
      await cluster.create(nodes, object("Node", undefined, "own-1"))
      await cluster.create(pods, podOf("web", { nodeName: "own-1" }))
      const status = { phase: "Running", startTime: "2026-01-01T00:00:00Z", containerStatuses: [{ name: "main" }] }
      cluster.edit(pods, "default", "web", { status })
      await settled()
      expect(cluster.find<Pod>(pods, "default", "web")?.status).toEqual(status)
      expect(superCluster.find(pods, home, "web")).toBeUndefined()
      await cluster.delete(pods, "default", "web", { gracePeriodSeconds: 30 })
      await settled()
      expect(cluster.find(pods, "default", "web")?.metadata.deletionTimestamp).toBeDefined()
    })

    test("gets the pods that are made for it, also if they were copied before it came", async () => {
      await cluster.create(pods, podOf("early", { affinity: { nodeAffinity: onOwn } }))
      await inSuper(pods, "early")
      await cluster.create(nodes, object("Node", undefined, "own-1"))
      await cluster.create(pods, podOf("late", { affinity: { nodeAffinity: onOwn } }))
      await settled()
      for (const name of ["early", "late"]) {
        await eventually(() => cluster.find<Pod>(pods, "default", name)?.spec?.nodeName === "own-1", { what: name })
      }
      await eventually(() => superCluster.find(pods, home, "early") === undefined, { what: "no copy" })
      expect(superCluster.find(pods, home, "late")).toBeUndefined()
    })
  })

  test("moves a pending pod to the node that the tenant's scheduler has bound it to", async () => {
    await eventually(() => cluster.find(nodes, undefined, "node-1"), { what: "node-1" })
    await cluster.create(pods, podOf("web"))
    expect((await inSuper<Pod>(pods, "web")).spec?.nodeName).toBeUndefined()
    const target = { apiVersion: "v1", kind: "Node", name: "node-1" }
    await cluster.create(pods, object("Binding", "default", "web", { target }), { subresource: "binding" })
    await eventually(() => superCluster.find<Pod>(pods, home, "web")?.spec?.nodeName === "node-1", {
      what: "the copy on its node",
    })
  })

  test("deletes a claim in super while tenant pods still use it, but not one with another finalizer", async () => {
    const inUse = "kubernetes.io/pvc-protection"
    const make = async (name: string, finalizers: string[]): Promise<void> => {
      const claim = object("PersistentVolumeClaim", "default", name, { spec: {} })
      await cluster.create(persistentVolumeClaims, { ...claim, metadata: { ...claim.metadata, finalizers } })
      await inSuper(persistentVolumeClaims, name)
      superCluster.edit(persistentVolumeClaims, home, name, { metadata: { finalizers: [inUse] } })
      await cluster.delete(persistentVolumeClaims, "default", name)
    }
    const isLeaving = (name: string): boolean =>
      superCluster.find(persistentVolumeClaims, home, name)?.metadata.deletionTimestamp !== undefined
    await make("kept", [inUse, "example.com/backup"])
    await make("used", [inUse])
    await eventually(() => isLeaving("used"), { what: "deletion in super" })
    await settled()
    expect(isLeaving("kept")).toBe(false)
    cluster.edit(persistentVolumeClaims, "default", "kept", { metadata: { finalizers: [inUse] } })
    await eventually(() => isLeaving("kept"), { what: "the deletion of the released claim" })
    expect(cluster.find(persistentVolumeClaims, "default", "used")).toBeDefined()
  })

  test("preempts the tenant's own pods of lower priority", async () => {
    superCluster.edit(nodes, undefined, "node-1", { status: { allocatable: { cpu: "2", pods: "10" } } })
    const asking = (cpu: string, priority: number): object => ({
      priority,
      containers: [{ name: "main", image: "nginx:1", resources: { requests: { cpu } } }],
    })
    await superCluster.create(namespaces, object("Namespace", undefined, "others"))
    await superCluster.create(pods, object("Pod", "others", "x", { spec: { ...asking("1", 0), nodeName: "node-1" } }))
    for (const [name, priority] of [
      ["low", 1],
      ["high", 100],
    ] as const) {
      await cluster.create(pods, podOf(name, asking("500m", priority)))
      await inSuper(pods, name)
      superCluster.edit(pods, home, name, { spec: { nodeName: "node-1" }, status: { phase: "Running" } })
      await eventually(() => cluster.find<Pod>(pods, "default", name)?.spec?.nodeName, { what: `${name} is bound` })
    }
    await cluster.create(pods, podOf("urgent", asking("500m", 1000)))
    await inSuper(pods, "urgent")
    const unschedulable = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes" }
    superCluster.edit(pods, home, "urgent", { status: { conditions: [unschedulable] } })
    await eventually(() => cluster.find(pods, "default", "low")?.metadata.deletionTimestamp, { what: "low goes" })
    expect(cluster.find<Pod>(pods, "default", "low")?.status?.conditions).toMatchObject([
      { type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler" },
    ])
    expect(cluster.find<Pod>(pods, "default", "urgent")?.status?.nominatedNodeName).toBe("node-1")
    expect(cluster.find(pods, "default", "high")?.metadata.deletionTimestamp).toBeUndefined()
    expect(superCluster.find(pods, "others", "x")?.metadata.deletionTimestamp).toBeUndefined()
    // A later pod of lower priority is kept off the node while it is reserved.
    await cluster.create(pods, podOf("next", asking("500m", 1)))
    const next = await inSuper<Pod>(pods, "next")
    expect(JSON.stringify(next.spec)).toContain('"operator":"NotIn","values":["node-1"]')
  })

  test("reports super's refusal to the tenant and retries", async () => {
    superCluster.fail = (verb, resource, made) =>
      verb === "create" && resource === "pods"
        ? forbidden({ group: "", resource: "pods" }, made?.metadata.name ?? "", `exceeded quota in ${home}`)
        : undefined
    await cluster.create(pods, podOf("web"))
    const event = await eventually(() => cluster.all(events).find(({ reason }) => reason === "FailedCreate"), {
      what: "event",
    })
    expect(event["message"]).toBe('pods "web" is forbidden: exceeded quota in default')
    superCluster.fail = undefined
    await eventually(() => superCluster.find(pods, home, "web"), { what: "created after a retry" })
  })

  test("mirrors events with the tenant's names and increments their counts", async () => {
    await cluster.create(pods, podOf("web"))
    const superPod = await inSuper(pods, "web")
    const involvedObject = { kind: "Pod", namespace: home, name: "web", uid: superPod.metadata.uid }
    const related = { kind: "Pod", namespace: "default-other", name: "of-another" }
    const fields = { reason: "Pulled", count: 1, message: `in ${home}: pulled` }
    await superCluster.create(events, object("Event", home, "web.1", { involvedObject, related, ...fields }))
    const event = await eventually(() => cluster.find(events, "default", "web.1"), { what: "the event" })
    expect(event["message"]).toBe("in default: pulled")
    expect(event["related"]).toBeUndefined()
    expect(event["involvedObject"]).toMatchObject({
      namespace: "default",
      uid: cluster.find(pods, "default", "web")?.metadata.uid,
    })
    superCluster.edit(events, home, "web.1", { count: 2 })
    await eventually(() => cluster.find(events, "default", "web.1")?.["count"] === 2, {
      what: "the count is incremented",
    })
  })

  test("requests the tenant's address again when a service is recreated in super", async () => {
    await cluster.create(services, object("Service", "default", "web", { spec: { clusterIP: "10.0.0.77", ports: [] } }))
    await inSuper(services, "web")
    superCluster.remove(services, home, "web")
    expect((await inSuper<Service>(services, "web")).spec?.clusterIP).toBe("10.0.0.77")
  })

  test("copies a service without its external addresses and reports that to the tenant", async () => {
    const spec = { type: "ClusterIP", clusterIP: "10.0.0.78", externalIPs: ["192.0.2.7"], ports: [] }
    await cluster.create(services, object("Service", "default", "web", { spec }))
    expect((await inSuper<Service>(services, "web")).spec).not.toHaveProperty("externalIPs")
    const event = await eventually(() => cluster.all(events).find(({ reason }) => reason === "FailedSync"), {
      what: "an event",
    })
    expect(event).toMatchObject({ type: "Warning", involvedObject: { kind: "Service", name: "web" } })
    expect(event["message"]).toMatch(/^spec\.externalIPs: /)
  })

  test("removes the namespaces of a deleted tenant once its VirtualCluster is deleted", async () => {
    await inSuper(services, "kubernetes")
    tenants.remove("acme")
    const virtualClusters = {
      group: "tenancy.x-k8s.io",
      version: "v1alpha1",
      resource: "virtualclusters",
      namespaced: true,
    }
    await superCluster.create(namespaces, object("Namespace", undefined, "default"))
    await superCluster.create(virtualClusters, object("VirtualCluster", "default", "acme"))
    superCluster.edit(virtualClusters, "default", "acme", { metadata: { uid: tenant.virtualCluster.uid } })
    await syncer.patrol()
    expect(superCluster.find(namespaces, undefined, home)).toBeDefined()
    superCluster.remove(virtualClusters, "default", "acme")
    await syncer.patrol()
    expect(superCluster.find(namespaces, undefined, home)).toBeUndefined()
  })

  test("starts while super is unreachable, and catches up", async () => {
    await syncer[Symbol.asyncDispose]()
    superCluster.fail = () => serviceUnavailable("connection refused")
    syncer = await startSyncer({ tenants, superClient: superCluster })
    await cluster.create(pods, podOf("late"))
    superCluster.fail = undefined
    await eventually(() => superCluster.find(pods, home, "late"), { what: "synced in the end" })
  })

  test("ignores pods that opt out", async () => {
    const pod = podOf("mine")
    pod.metadata.labels = { "tenancy.x-k8s.io/ignore-sync": "true" }
    await cluster.create(pods, pod)
    await settled()
    expect(superCluster.find(pods, home, "mine")).toBeUndefined()
  })

  async function running(name: string): Promise<Pod> {
    await cluster.create(pods, podOf(name))
    await inSuper(pods, name)
    const status = { phase: "Running", startTime: "2026-01-01T00:00:00Z", containerStatuses: [{ name: "main" }] }
    superCluster.edit(pods, home, name, { spec: { nodeName: "node-1" }, status })
    return eventually(
      () => {
        const pod = cluster.find<Pod>(pods, "default", name)
        return pod?.status?.phase === "Running" ? pod : undefined
      },
      { what: "running" },
    )
  }
})
