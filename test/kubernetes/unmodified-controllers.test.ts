// Upstream's kube-controller-manager, as released, works for a tenant that asked for none of ours (spec.controllers: false).
// It speaks protobuf and knows the API from the inside: whatever it cannot read or write shows here.

import { readFile, writeFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { parse } from "yaml"
import { eventually } from "../harness/eventually.ts"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"
import { binary } from "./build/cache.ts"
import { Component } from "./harness/component.ts"
import { lacks } from "./harness/needs.ts"

const tenant = "own"
/** Controllers that need what a tenant does not have: a cloud, the signing keys, feature gates that are off by default. */
const leftOut = [
  "certificatesigningrequest-signing-controller",
  "cloud-node-lifecycle-controller",
  "kube-apiserver-serving-clustertrustbundle-publisher-controller",
  "node-ipam-controller",
  "node-route-controller",
  "podcertificaterequest-cleaner-controller",
  "podgroup-protection-controller",
  "resourcepoolstatusrequest-controller",
  "service-lb-controller",
  "serviceaccount-token-controller",
  "storage-version-migrator-controller",
  "storageversion-garbage-collector-controller",
]
/** Tells of every request with its answer's status. */
const verbosity = 6
const graceSeconds = 20

describe.skipIf(lacks(["kube-controller-manager"]))("an unmodified kube-controller-manager in a tenant", () => {
  let up: Polyplane
  let manager: Component
  const log = () => readFile(up.path("kube-controller-manager.log"), "utf8")
  const kubectl = (...args: string[]) => up.kubectl(args, { kubeconfig: up.path("kubeconfig"), timeoutMs: 60_000 })

  beforeAll(async () => {
    // Its tenant sleeps soon unless somebody uses it or watches leases, as it does: gateway/tenancy/sleep.test.ts tells these apart.
    up = await startPolyplane({ args: ["--tenants", "", "--tenant-idle", "2"] })
    await writeFile(up.path("tenant.json"), JSON.stringify(virtualCluster))
    await up.kubectl(["apply", "-f", up.path("tenant.json")], { kubeconfig: "admin" })
    const running = ["wait", "--for=jsonpath={.status.phase}=Running", `virtualcluster/${tenant}`, "--timeout=30s"]
    await up.kubectl(running, { kubeconfig: "admin", timeoutMs: 40_000 })
    await up.cli(["tenant", "kubeconfig", tenant, "--output", up.path("kubeconfig")])
    manager = await startControllerManager()
  })

  afterAll(async () => {
    await manager?.[Symbol.asyncDispose]()
    await up?.[Symbol.asyncDispose]()
  })

  async function startControllerManager(): Promise<Component> {
    const kubeconfig = up.path("kubeconfig")
    const { clusters } = parse(await readFile(kubeconfig, "utf8")) as Kubeconfig
    const authority = Buffer.from(clusters[0]?.cluster["certificate-authority-data"] ?? "", "base64")
    await writeFile(up.path("ca.crt"), authority)
    return Component.start({
      name: "kube-controller-manager",
      program: await binary("kube-controller-manager"),
      args: [
        `--kubeconfig=${kubeconfig}`,
        `--authentication-kubeconfig=${kubeconfig}`,
        `--authorization-kubeconfig=${kubeconfig}`,
        "--leader-elect=false",
        "--secure-port=0",
        "--use-service-account-credentials",
        `--root-ca-file=${up.path("ca.crt")}`,
        `--node-monitor-grace-period=${graceSeconds}s`,
        `--v=${verbosity}`,
      ],
      logFile: up.path("kube-controller-manager.log"),
    })
  }

  test("starts every controller, and all their caches fill", async () => {
    await manager.ready(async () => (await log()).includes("synced garbage collector"))
    const text = await log()
    const skipped = [...text.matchAll(/"Warning: skipping controller" controller="([^"]+)"/g)].map(
      ([, name]) => name ?? "",
    )
    expect(skipped.sort()).toEqual(leftOut)
    const started = types(text, "Starting reflector")
    expect(started.size).toBeGreaterThan(50)
    await eventually(async () => {
      const filled = types(await log(), "Caches populated")
      return [...started].every((type) => filled.has(type))
    })
  })

  test("rolls a deployment out, scales it, exposes it", async () => {
    await kubectl("create", "deployment", "web", "--image=nginx", "--replicas=3")
    await kubectl("rollout", "status", "deployment/web", "--timeout=45s")
    await kubectl("expose", "deployment", "web", "--port=80")
    await kubectl("scale", "deployment/web", "--replicas=2")
    await kubectl("set", "image", "deployment/web", "nginx=nginx:2")
    await kubectl("rollout", "status", "deployment/web", "--timeout=45s")
    const ready = ["get", "endpointslices", "-l", "kubernetes.io/service-name=web", "-o", endpointAddresses]
    await eventually(async () => (await kubectl(...ready)).split(" ").length === 2)
    expect(await kubectl("get", "deployment", "web")).toMatch(/^web +2\/2 +2 +2 /m)
  })

  test("runs stateful sets, daemon sets, jobs and cron jobs", async () => {
    await writeFile(up.path("workloads.json"), JSON.stringify({ apiVersion: "v1", kind: "List", items: workloads }))
    await kubectl("apply", "-f", up.path("workloads.json"))
    await kubectl("rollout", "status", "statefulset/database", "--timeout=45s")
    await kubectl("rollout", "status", "daemonset/agent", "--timeout=45s")
    await kubectl("wait", "--for=condition=Complete", "job/once", "--timeout=45s")
    await kubectl("create", "job", "--from=cronjob/often", "now")
    await kubectl("wait", "--for=condition=Complete", "job/now", "--timeout=45s")
  })

  test("a namespace dies with everything in it", async () => {
    await kubectl("create", "namespace", "short")
    await kubectl("-n", "short", "create", "deployment", "web", "--image=nginx")
    await kubectl("-n", "short", "rollout", "status", "deployment/web", "--timeout=45s")
    await kubectl("delete", "namespace", "short", "--timeout=55s")
    expect((await up.tryKubectl(["get", "ns", "short"], { kubeconfig: up.path("kubeconfig") })).stderr).toContain(
      'namespaces "short" not found',
    )
  })

  test("garbage is collected: in the background, in the foreground, and orphans stay", async () => {
    const sets = async () => (await kubectl("get", "replicasets", "-l", "app=web", "-o", "name")).trim()
    await kubectl("delete", "deployment", "web")
    await eventually(async () => (await sets()) === "")
    await eventually(async () => (await kubectl("get", "pods", "-l", "app=web", "-o", "name")) === "")
    await kubectl("create", "deployment", "web", "--image=nginx")
    await kubectl("rollout", "status", "deployment/web", "--timeout=45s")
    await kubectl("delete", "deployment", "web", "--cascade=orphan")
    expect(await sets()).toMatch(/^replicaset\.apps\/web-\w+$/)
    await kubectl("delete", await sets(), "--cascade=foreground", "--timeout=55s")
    expect(await kubectl("get", "pods", "-l", "app=web", "-o", "name")).toBe("")
  })

  test("the nodes stay ready: their leases are renewed for it", async () => {
    const lease = async () => kubectl("get", "leases", "-n", "kube-node-lease", "-o", leaseTimes)
    const first = await lease()
    expect(first).toMatch(/^(node-\d=\S+Z ){3}$/)
    // Until then the grace period has passed since the manager started.
    for (let seen = first, renewals = 0; renewals < 2; renewals++) {
      seen = await eventually(async () => {
        const now = await lease()
        return now !== seen && now
      })
    }
    expect(await log()).not.toContain("node_lifecycle_controller.go:963")
    expect(await kubectl("get", "nodes")).not.toContain("NotReady")
  })

  test("nothing it asked for was refused, conflicts and what is not there yet apart", async () => {
    const answers = [
      ...(await log()).matchAll(/verb="(\w+)" url="[^"]*\/tenants\/own([^"?]*)(?:\?[^"]*)?" status="(\d+)/g),
    ]
    // That it reads the log at all: whether 400 or 600 requests were made is a matter of timing.
    expect(answers.length).toBeGreaterThan(100)
    const refused = answers.filter(([, , , status]) => Number(status) >= 400 && status !== "409")
    const refusals = new Set(refused.map(([, verb, path, status]) => `${status} ${verb} ${path}`))
    expect([...refusals].filter((each) => !expected.some((one) => one.test(each)))).toEqual([])
  })

  test("when it ends, its tenant sleeps, and the leases of the nodes with it", async () => {
    await manager[Symbol.asyncDispose]()
    const awake = async () => up.kubectl(["get", "--raw", "/metrics"], { kubeconfig: "admin" })
    await eventually(async () => (await awake()).includes("polyplane_tenants_awake 0\n"), { what: "the tenant sleeps" })
  })
})

interface Kubeconfig {
  clusters: { cluster: { "certificate-authority-data": string } }[]
}

/** Refusals that are its own way to work, on any cluster. */
const expected = [
  // It asks for a service account before it makes it.
  /^404 GET \/api\/v1\/namespaces\/[^/]+\/serviceaccounts\//,
  // Here deployments are deleted while it works on them: their pods, sets and statuses may be gone when it comes to write.
  /^404 \w+ \/api\/v1\/namespaces\/[^/]+\/pods\//,
  /^404 \w+ \/apis\/apps\/v1\/namespaces\/default\/(deployments|replicasets)\/web/,
  // It works on while a namespace goes.
  /^40[34] \w+ .*\/namespaces\/short\//,
]
const types = (log: string, message: string) =>
  new Set([...log.matchAll(new RegExp(`"${message}" type="([^"]+)"`, "g"))].map(([, type]) => type ?? ""))
const endpointAddresses = "jsonpath={.items[*].endpoints[?(@.conditions.ready)].addresses[0]}"
const leaseTimes = "jsonpath={range .items[*]}{.metadata.name}={.spec.renewTime} {end}"
const virtualCluster = {
  apiVersion: "tenancy.x-k8s.io/v1alpha1",
  kind: "VirtualCluster",
  metadata: { name: tenant, namespace: "default" },
  spec: { clusterVersionName: "default", controllers: false },
}
const selected = (app: string) => ({
  selector: { matchLabels: { app } },
  template: { metadata: { labels: { app } }, spec: { containers: [{ name: "main", image: "nginx" }] } },
})
const jobTemplate = {
  spec: { containers: [{ name: "main", image: "busybox", command: ["true"] }], restartPolicy: "Never" },
}
const workloads = [
  {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "database" },
    spec: { replicas: 2, serviceName: "database", ...selected("database") },
  },
  { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "agent" }, spec: selected("agent") },
  { apiVersion: "batch/v1", kind: "Job", metadata: { name: "once" }, spec: { template: jobTemplate } },
  {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "often" },
    spec: { schedule: "0 0 1 1 *", jobTemplate: { spec: { template: jobTemplate } } },
  },
]
