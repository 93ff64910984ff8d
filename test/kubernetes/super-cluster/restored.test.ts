// A super cluster that loses its memory: its etcd does not answer for a while, is restored to what it was before, or is replaced by an
// empty one. Nothing of it may cost a tenant anything, and nobody has to restart Polyplane.

import { cp, rm } from "node:fs/promises"
import { afterAll, beforeAll, describe, onTestFinished, test } from "vitest"
import type { ConfigMap, KubeObject, Service } from "../../../apimachinery/object.ts"
import { adoptAnnotation } from "../../../apimachinery/tenancy.ts"
import type { HttpClient } from "../../../client/http/client.ts"
import { configMaps, deployments, pods, services, virtualClusters } from "../../../client/resources.ts"
import { eventually } from "../../harness/eventually.ts"
import { startPolyplane, type Polyplane } from "../../harness/polyplane.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { connectTenant, faultsOf, ofUser } from "./mirror.ts"

// Otherwise an etcd that is stopped may lose its last revisions.
const options = { nodes: 2, controllerManager: true, scheduler: true, durable: true }
const patience = { timeoutMs: 150_000 }

describe.skipIf(lacks(TestKubernetes.binaries(options)))("a super cluster", () => {
  let kubernetes: TestKubernetes
  let up: Polyplane
  let tenant: HttpClient

  beforeAll(async () => {
    kubernetes = await TestKubernetes.start(options)
    up = await startPolyplane({ args: ["--super-kubeconfig", kubernetes.kubeconfig, "--tenants", "one"] })
    const connected = await connectTenant(
      kubernetes.client,
      await kubernetes.client.get(virtualClusters, "default", "one"),
    )
    if (connected === undefined) throw new Error("the tenant has no kubeconfig")
    tenant = connected
  })

  afterAll(async () => {
    await tenant?.[Symbol.asyncDispose]()
    await up?.[Symbol.asyncDispose]()
    await kubernetes?.[Symbol.asyncDispose]()
  })

  /** As soon as the operator has made them served. */
  async function adopt(name: string, uid = ""): Promise<void> {
    const object = virtualCluster(name, { [adoptAnnotation]: uid })
    await eventually(() => kubernetes.client.create(virtualClusters, object), patience)
  }
  const metadata = (name: string) => ({ namespace: "default", name, labels: ofUser })
  const create = (name: string) =>
    tenant.create<ConfigMap>(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: metadata(name),
      data: { name },
    })
  const deploy = (name: string) => tenant.create(deployments, deployment(name))

  async function isMirrored(): Promise<void> {
    let faults: string[] = []
    try {
      await eventually(async () => (faults = await faultsOf(kubernetes.client)).length === 0, patience)
    } catch (error) {
      throw new Error(`${faults.join("\n")}\n${up.stderr}`, { cause: error })
    }
  }

  test("whose etcd does not answer is mirrored when it does", async () => {
    await create("before")
    await isMirrored()
    kubernetes.signalEtcd("SIGSTOP")
    onTestFinished(() => kubernetes.signalEtcd("SIGCONT"))
    await create("meanwhile")
    await tenant.delete(configMaps, "default", "before")
    await deploy("meanwhile")
    await eventually(async () => !(await kubernetes.get("/readyz")).ok)
    await eventually(() => up.stderr.includes("the super cluster is unavailable"))
    kubernetes.signalEtcd("SIGCONT")
    await isMirrored()
  }, 300_000)

  test("that is restored to an earlier revision is mirrored as the tenant is now", async () => {
    for (const name of ["kept", "changed", "deleted"]) await create(name)
    await deploy("deleted")
    const service: Service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: metadata("web"),
      spec: { ports: [{ port: 80 }] },
    }
    await tenant.create(services, service)
    await isMirrored()
    await kubernetes.stop()
    await cp(kubernetes.etcdData, kubernetes.path("backup"), { recursive: true })
    await kubernetes.restart()
    await isMirrored()
    await create("late")
    await deploy("late")
    await tenant.patch(configMaps, "default", "changed", { data: { name: "again" } }, { type: "merge" })
    await tenant.delete(configMaps, "default", "deleted")
    await tenant.delete(deployments, "default", "deleted")
    const late = (await kubernetes.client.create(virtualClusters, virtualCluster("late"))).metadata.uid
    await eventually(async () =>
      (await tenant.list(pods)).items.every(({ metadata: { name } }) => name?.startsWith("deleted") !== true),
    )
    await isMirrored()
    // More revisions than its own components use until Polyplane has found it again, on a busy machine as well.
    const more: ConfigMap = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: "default", generateName: "more-" },
    }
    for (let each = 0; each < 4000; each += 20)
      await Promise.all(Array.from({ length: 20 }, () => kubernetes.client.create(configMaps, more)))
    await kubernetes.stop()
    await rm(kubernetes.etcdData, { recursive: true })
    await cp(kubernetes.path("backup"), kubernetes.etcdData, { recursive: true })
    await kubernetes.restart()
    // Nothing that happens in the super cluster deletes a tenant: it is there, for whoever adopts it.
    await eventually(() => up.stderr.includes("the tenant's VirtualCluster was deleted"), patience)
    await adopt("late", late)
    await isMirrored()
  }, 400_000)

  test("that is replaced by an empty one gets the copies again, and its tenants when their VirtualClusters adopt them", async () => {
    const all = (await kubernetes.client.list(virtualClusters)).items
    await kubernetes.stop()
    await rm(kubernetes.etcdData, { recursive: true })
    await kubernetes.restart()
    for (const { metadata } of all)
      await adopt(metadata.name ?? "", metadata.annotations?.[adoptAnnotation] ?? metadata.uid)
    await eventually(
      async () => (await tenant.list(configMaps, { labelSelector: "example.com/of=user" })).items.length > 0,
    )
    await isMirrored()
  }, 400_000)
})

function virtualCluster(name: string, annotations: Record<string, string> = {}): KubeObject {
  return {
    apiVersion: "tenancy.x-k8s.io/v1alpha1",
    kind: "VirtualCluster",
    metadata: { namespace: "default", name, annotations },
    spec: { clusterVersionName: "default" },
  }
}

function deployment(name: string): KubeObject {
  const labels = { ...ofUser, app: name }
  const spec = { terminationGracePeriodSeconds: 1, containers: [{ name: "main", image: "busybox:1" }] }
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { namespace: "default", name },
    spec: { replicas: 2, selector: { matchLabels: { app: name } }, template: { metadata: { labels }, spec } },
  }
}
