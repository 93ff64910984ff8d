// The main job on somebody else's Kubernetes: kube-apiserver, kube-controller-manager, kube-scheduler, and simulated kubelets.
// All that Polyplane gets of it is a kubeconfig. What needs containers that really answer is in node/.

import { writeFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { KubeObject, Node, Pod, Service } from "../../apimachinery/object.ts"
import { configMaps, namespaces, nodes, pods, services } from "../../client/resources.ts"
import type { Resource } from "../../client/rest.ts"
import { eventually } from "../harness/eventually.ts"
import { polyplane, startPolyplane, type Polyplane } from "../harness/polyplane.ts"
import { lacks } from "./harness/needs.ts"
import { serveMetrics, setUsage } from "./controllers/metrics.ts"
import { apartDeployment, autoscaler, daemonSet, statefulSet } from "./harness/workloads.ts"
import { TestKubernetes } from "./harness/test-kubernetes.ts"

const options = { nodes: 5, controllerManager: true, scheduler: true }
const virtualClusters: Resource = {
  group: "tenancy.x-k8s.io",
  version: "v1alpha1",
  resource: "virtualclusters",
  namespaced: true,
}
const tenant = "team-a"

describe.skipIf(lacks(TestKubernetes.binaries(options)))("a tenant on a real super cluster", () => {
  let kubernetes: TestKubernetes
  let up: Polyplane

  beforeAll(async () => {
    kubernetes = await TestKubernetes.start(options)
    up = await startPolyplane({ args: ["--super-kubeconfig", kubernetes.kubeconfig, "--tenants", ""] })
  })

  afterAll(async () => {
    await up?.[Symbol.asyncDispose]()
    await kubernetes?.[Symbol.asyncDispose]()
  })

  const cli = (...args: string[]) => polyplane([...args, "--kubeconfig", kubernetes.kubeconfig], { timeoutMs: 90_000 })
  const kubectl = (...args: string[]) => up.kubectl(args, { kubeconfig: up.path(tenant), timeoutMs: 60_000 })
  const get = async <T extends KubeObject>(...args: string[]) =>
    JSON.parse(await kubectl("get", ...args, "-o", "json")) as T
  const list = async <T extends KubeObject>(...args: string[]) =>
    (await get<KubeObject & { items: T[] }>(...args)).items
  /** What the super cluster has of a kind in the tenant's namespaces. */
  const copies = async <T extends KubeObject>(resource: Resource, name: RegExp) =>
    (await kubernetes.client.list<T>(resource)).items.filter(
      ({ metadata }) => metadata.namespace?.includes(`-${tenant}-`) === true && name.test(metadata.name ?? ""),
    )

  async function manifest(name: string, object: unknown): Promise<string> {
    await writeFile(up.path(`${name}.json`), JSON.stringify(object))
    return up.path(`${name}.json`)
  }

  test("is made, and listed in the super cluster", async () => {
    expect(await cli("tenant", "create", tenant)).toMatchObject({ stderr: "", code: 0 })
    await cli("tenant", "kubeconfig", tenant, "--output", up.path(tenant))
    const [object] = (await kubernetes.client.list(virtualClusters)).items
    expect(object).toMatchObject({ metadata: { name: tenant }, status: { phase: "Running" } })
    expect(await kubectl("get", "namespaces", "-o", "name")).toBe(
      "namespace/default\nnamespace/kube-node-lease\nnamespace/kube-public\nnamespace/kube-system\n",
    )
  })

  test("deploys, and its pods run where the super cluster's scheduler put them", async () => {
    await kubectl("create", "deployment", "web", "--image=nginx", "--replicas=3")
    expect(await kubectl("rollout", "status", "deployment/web", "--timeout=45s")).toContain("successfully rolled out")
    const own = await list<Pod>("pods", "-l", "app=web")
    const real = await copies<Pod>(pods, /^web-/)
    const view = ({ metadata, spec, status }: Pod) =>
      [metadata.name, spec?.nodeName, status?.phase, status?.podIP].join(" ")
    expect(own.map(view).sort()).toEqual(real.map(view).sort())
    expect(new Set(real.map(({ status }) => status?.phase))).toEqual(new Set(["Running"]))
    const known = (await list<Node>("nodes")).map(({ metadata }) => metadata.name)
    expect(known).toEqual(expect.arrayContaining(own.map(({ spec }) => spec?.nodeName)))
    const machines = (await kubernetes.client.list<Node>(nodes)).items.map(({ metadata }) => metadata.name)
    expect(machines).toEqual(expect.arrayContaining(known))
  })

  test.each([
    ["logs", ["logs", "deployment/web"]],
    ["port-forward", ["port-forward", "deployment/web", ":8080"]],
  ])("says why %s fails as a cluster of its own would: these nodes have no kubelet", async (_what, args) => {
    const { code, stderr } = await up.tryKubectl(args, { kubeconfig: up.path(tenant), timeoutMs: 60_000 })
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/dial tcp/)
    expect(stderr).not.toMatch(/default-[0-9a-f]{6}-team-a|kind"/)
  })

  test("exposes: the address is the super cluster's, the endpoints are the tenant's pods", async () => {
    await kubectl("expose", "deployment", "web", "--port=80", "--target-port=8080")
    const own = await get<Service>("service", "web")
    const [real] = await copies<Service>(services, /^web$/)
    expect(own.spec?.clusterIP).toMatch(/^10\.96\./)
    expect(real?.spec?.clusterIP).toBe(own.spec?.clusterIP)
    const addresses = (await list<Pod>("pods", "-l", "app=web")).map(({ status }) => status?.podIP ?? "").sort()
    await eventually(async () => {
      const found = await kubectl(
        "get",
        "endpointslices",
        "-l",
        "kubernetes.io/service-name=web",
        "-o",
        endpointAddresses,
      )
      return found.trim().split(" ").sort().join() === addresses.join()
    })
  })

  test("reads what its pods use from the super cluster's metrics API, and scales by it", async () => {
    const top = () => up.tryKubectl(["top", "pods"], { kubeconfig: up.path(tenant) })
    expect((await top()).stderr).toContain("Metrics API not available")
    await serveMetrics(kubernetes.client)
    await setUsage(kubernetes.client, await copies<Pod>(pods, /^web-/), { cpu: "90m", memory: "10Mi" })
    await eventually(async () => (await top()).code === 0, { what: "the metrics API in the tenant" })
    const own = await list<Pod>("pods", "-l", "app=web")
    const lines = (text: string) =>
      text
        .trim()
        .split("\n")
        .map((line) => line.trim().split(/ +/))
    const used = lines(await kubectl("top", "pods", "-l", "app=web", "--no-headers"))
    expect(used.map(String).sort()).toEqual(own.map(({ metadata }) => `${metadata.name},90m,10Mi`).sort())
    const byNode = Map.groupBy(own, ({ spec }) => spec?.nodeName ?? "")
    const nodesUsed = lines(await kubectl("top", "nodes", "--no-headers")).map(([name, cpu]) => [name, cpu])
    expect(nodesUsed).toEqual(expect.arrayContaining([...byNode].map(([name, all]) => [name, `${all.length * 90}m`])))
    // Of docs/guides/real-super-cluster.md: for those who may only view.
    const resources = "--resource=pods.metrics.k8s.io,nodes.metrics.k8s.io"
    await kubectl("create", "clusterrole", "metrics-reader", "--verb=get,list", resources)
    await kubectl("label", "clusterrole", "metrics-reader", "rbac.authorization.k8s.io/aggregate-to-view=true")
    await kubectl("create", "rolebinding", "viewer", "--clusterrole=view", "--user=viewer")
    await eventually(
      async () => (await up.tryKubectl(["top", "pods", "--as=viewer"], { kubeconfig: up.path(tenant) })).code === 0,
      {
        what: "the metrics for a viewer",
      },
    )
    await kubectl("apply", "-f", await manifest("autoscaler", autoscaler))
    await kubectl("wait", "--for=jsonpath={.status.desiredReplicas}=4", "hpa/web", "--timeout=50s")
    await kubectl("delete", "hpa", "web")
  })

  test("scales up and down, and the super cluster follows", async () => {
    for (const replicas of [5, 1]) {
      await kubectl("scale", "deployment/web", `--replicas=${replicas}`)
      await kubectl("rollout", "status", "deployment/web", "--timeout=45s")
      await eventually(async () => (await copies(pods, /^web-/)).length === replicas)
    }
  })

  test("rolls a new image out", async () => {
    await kubectl("set", "image", "deployment/web", "nginx=nginx:2")
    await kubectl("rollout", "status", "deployment/web", "--timeout=45s")
    const images = async () => (await copies<Pod>(pods, /^web-/)).map(({ spec }) => spec?.containers[0]?.image)
    await eventually(async () => (await images()).join() === "nginx:2")
  })

  test("runs a job to its end, a stateful set in order, and a daemon set on every node it has", async () => {
    await kubectl("create", "job", "once", "--image=busybox", "--", "true")
    await kubectl("wait", "--for=condition=Complete", "job/once", "--timeout=45s")
    await kubectl("apply", "-f", await manifest("database", statefulSet))
    await kubectl("rollout", "status", "statefulset/database", "--timeout=45s")
    expect((await copies<Pod>(pods, /^database-/)).map(({ metadata }) => metadata.name ?? "").sort()).toEqual([
      "database-0",
      "database-1",
    ])
    // A tenant's nodes are those its pods have been put on.
    const expected = (await list<Node>("nodes")).length
    await kubectl("apply", "-f", await manifest("agent", daemonSet))
    await kubectl("rollout", "status", "daemonset/agent", "--timeout=45s")
    expect((await copies(pods, /^agent-/)).length).toBeGreaterThanOrEqual(expected)
  })

  test("a copy that somebody deletes in the super cluster is made again", async () => {
    await kubectl("create", "configmap", "settings", "--from-literal=a=b")
    const [before] = await eventually(async () => {
      const found = await copies(configMaps, /^settings$/)
      return found.length === 1 && found
    })
    const { namespace, name = "", uid } = before?.metadata ?? {}
    await kubernetes.client.delete(configMaps, namespace, name)
    await eventually(async () => {
      const [after] = await copies(configMaps, /^settings$/)
      return after !== undefined && after.metadata.uid !== uid
    })
  })

  test("while the super cluster's API is away the tenant's answers, and what was asked for is done when it is back", async () => {
    await kubernetes.stopApiServer()
    expect(await kubectl("get", "deployment", "web")).toContain("1/1")
    await kubectl("scale", "deployment/web", "--replicas=2")
    await kubernetes.startApiServer()
    await kubectl("rollout", "status", "deployment/web", "--timeout=55s")
    expect(await copies(pods, /^web-/)).toHaveLength(2)
  })

  test("deletes a namespace with everything in it, in the super cluster too", async () => {
    await kubectl("create", "namespace", "short")
    await kubectl("-n", "short", "create", "deployment", "web", "--image=nginx", "--replicas=2")
    await kubectl("-n", "short", "rollout", "status", "deployment/web", "--timeout=45s")
    const inSuper = async () =>
      (await kubernetes.client.list(namespaces)).items.filter(({ metadata }) =>
        metadata.name?.endsWith(`-${tenant}-short`),
      )
    expect(await inSuper()).toHaveLength(1)
    await kubectl("delete", "namespace", "short", "--timeout=55s")
    await eventually(async () => (await inSuper()).length === 0)
  })

  test("keeps the pods of one revision apart, by the label that its controller gives them", async () => {
    await kubectl("apply", "-f", await manifest("apart", apartDeployment(options.nodes)))
    await kubectl("rollout", "status", "deployment/apart", "--timeout=45s")
    // As many as there are machines: those of the new revision find room only beside those of the old one.
    await kubectl("rollout", "restart", "deployment/apart")
    await kubectl("rollout", "status", "deployment/apart", "--timeout=45s")
    await eventually(async () => {
      const real = await copies<Pod>(pods, /^apart-/)
      return real.length === options.nodes && new Set(real.map(({ spec }) => spec?.nodeName)).size === options.nodes
    })
  })

  test("deletes its deployment, and the super cluster has none of its pods", async () => {
    await kubectl("delete", "deployment,service,statefulset,daemonset,job", "--all", "--timeout=55s")
    await eventually(async () => (await copies(pods, /./)).length === 0)
    expect(await copies(services, /^web$/)).toEqual([])
  })

  test("is deleted, and nothing of it remains in the super cluster", async () => {
    expect(await cli("tenant", "delete", tenant)).toMatchObject({ stderr: "", code: 0 })
    await eventually(async () => {
      const left = (await kubernetes.client.list(namespaces)).items
      return left.every(({ metadata }) => metadata.name?.includes(`-${tenant}`) !== true)
    })
    expect((await kubernetes.client.list(virtualClusters)).items).toEqual([])
    for (const resource of await kubernetes.client.discover()) {
      // Events about the VirtualCluster end by their age, as all events do.
      if (!resource.verbs.includes("list") || resource.resource === "events") continue
      const { items } = await kubernetes.client.list(resource)
      const names = items.map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name}`)
      expect(names.filter((name) => name.includes(tenant))).toEqual([])
    }
  })
})

const endpointAddresses = "jsonpath={.items[*].endpoints[?(@.conditions.ready)].addresses[0]}"
