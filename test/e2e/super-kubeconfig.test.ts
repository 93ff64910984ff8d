// A remote super cluster, of which only a kubeconfig is known.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { ConfigMap, KubeObject, Pod, Service } from "../../apimachinery/object.ts"
import { configMaps, pods, services, virtualClusters } from "../../client/resources.ts"
import { eventually } from "../harness/eventually.ts"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"
import { SuperCluster } from "../harness/super-cluster.ts"

let cluster: SuperCluster
let up: Polyplane

beforeAll(async () => {
  cluster = await SuperCluster.start()
  up = await startPolyplane({ args: ["--super-kubeconfig", cluster.kubeconfig] })
})

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
  await cluster?.[Symbol.asyncDispose]()
})

const superPods = async () =>
  (await cluster.client.list<Pod>(pods)).items.filter(({ metadata }) => metadata.name?.startsWith("web-"))

describe("polyplane up --super-kubeconfig", () => {
  test("runs a tenant's deployment in the other cluster, with services at its addresses", async () => {
    await up.kubectl(["create", "deployment", "web", "--image=nginx", "--replicas=2"])
    await up.kubectl(["expose", "deployment", "web", "--port=80"])
    await up.kubectl(["rollout", "status", "deployment", "web", "--timeout=25s"])
    expect(await superPods()).toHaveLength(2)
    const own = await up.kubectl(["get", "service", "web", "-o", "jsonpath={.spec.clusterIP}"])
    const all = (await cluster.client.list<Service>(services)).items
    expect(all.filter(({ spec }) => spec?.clusterIP === own).map(({ metadata }) => metadata.name)).toEqual(["web"])
  })

  test("polyplane tenant finds the other cluster by the data directory", async () => {
    expect(await up.cli(["tenant", "create", "second"])).toMatchObject({ stderr: "", code: 0 })
    expect(await up.kubectl(["get", "namespaces", "-o", "name"], { kubeconfig: "second" })).toContain(
      "namespace/default",
    )
    const list = await cluster.client.list<KubeObject>(virtualClusters)
    expect(list.items.map(({ metadata }) => metadata.name ?? "").sort()).toEqual(["demo", "second"])
    expect(await up.cli(["tenant", "delete", "second"])).toMatchObject({ stderr: "", code: 0 })
  })

  test("logs report why they are not available", async () => {
    const { code, stderr } = await up.tryKubectl(["logs", "deploy/web"])
    expect(stderr).toMatch(/^Error from server|^error: /m)
    expect(code).toBe(1)
  })

  test("while the super cluster is unavailable, the tenant's API responds, and changes are applied afterwards", async () => {
    await cluster.stop()
    expect(await up.kubectl(["get", "deployment", "web"])).toContain("2/2")
    await up.kubectl(["create", "configmap", "settings", "--from-literal=a=b"])
    await up.kubectl(["scale", "deployment", "web", "--replicas=3"])
    const refused = await up.tryKubectl(["create", "service", "clusterip", "late", "--tcp=80"])
    expect(refused.stderr).toMatch(/^(Error from server|error: )/m)
    expect(refused.code).toBe(1)
    await cluster.start()
    await up.kubectl(["rollout", "status", "deployment", "web", "--timeout=60s"], { timeoutMs: 70_000 })
    expect(await superPods()).toHaveLength(3)
    await eventually(async () =>
      (await cluster.client.list<ConfigMap>(configMaps)).items.some(({ metadata }) => metadata.name === "settings"),
    )
    await up.kubectl(["create", "service", "clusterip", "late", "--tcp=80"])
  }, 120_000)

  test("a start without the super cluster fails with one sentence and loses no data", async () => {
    const before = await up.kubectl(["get", "deployments,services,configmaps", "-o", "name"])
    expect(await up.stop()).toBe(0)
    await cluster.stop()
    await expect(up.start()).rejects.toThrow(/super cluster of .*admin\.kubeconfig does not answer/)
    await cluster.start()
    await up.start()
    expect(await up.kubectl(["get", "deployments,services,configmaps", "-o", "name"])).toBe(before)
    await up.kubectl(["scale", "deployment", "web", "--replicas=1"])
    await eventually(async () => (await superPods()).length === 1, { what: "one pod left in the super cluster" })
  })
})
