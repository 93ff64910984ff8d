// The main job with containers that really run: the super cluster has real nodes (node/), so a tenant's pods have addresses,
// tokens and a network, and logs and exec are a real kubelet's.

import { once } from "node:events"
import { mkdir, writeFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Pod, Service } from "../../apimachinery/object.ts"
import { connectCluster } from "../../cli/compose/cluster.ts"
import { pods, services } from "../../client/resources.ts"
import { eventually } from "../harness/eventually.ts"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"
import { collect, start, succeed } from "../harness/processes.ts"
import { lacks } from "./harness/needs.ts"
import { containerSteps, forward, typeSteps } from "./kubectl/containers.ts"
import { autoscaler, daemonSet, deployment, image, ownPod } from "./node/workloads.ts"
import { installCoreDNS } from "./node/core-dns.ts"
import { whyNoNodes } from "./node/machine.ts"
import { joinKubelet } from "./node/joined-kubelet.ts"
import { metricsProgram, provideResourceMetrics } from "./node/resource-metrics.ts"
import { RealKubernetes } from "./node/real-kubernetes.ts"

const timeoutMs = 90_000
/** The spare one, on which a kubelet of a tenant runs. */
const ownMachine = 3
/** What else is tested at the same time may want the processor, too. */
const startTimeoutMs = 240_000

describe.skipIf(lacks([metricsProgram], await whyNoNodes()))("a tenant on real nodes", { timeout: timeoutMs }, () => {
  let kubernetes: RealKubernetes
  let up: Polyplane

  beforeAll(async () => {
    kubernetes = await RealKubernetes.start({ nodes: 2, spare: 1 })
    // Where pods find it: this machine's address in the nodes' network.
    const network = ["--host", kubernetes.hostAddress, "--allow-network", kubernetes.nodeAddress(ownMachine)]
    up = await startPolyplane({ args: ["--super-kubeconfig", kubernetes.kubeconfig, ...network] })
  }, startTimeoutMs)

  afterAll(async () => {
    await up?.[Symbol.asyncDispose]()
    await kubernetes?.[Symbol.asyncDispose]()
  }, timeoutMs)

  const kubectl = (...args: string[]) => up.kubectl(args, { timeoutMs: 60_000 })
  const inPod = (pod: string, ...command: string[]) => kubectl("exec", pod, "--", ...command)
  const list = async (selector: string): Promise<Pod[]> =>
    (JSON.parse(await kubectl("get", "pods", "-l", selector, "-o", "json")) as { items: Pod[] }).items

  test("deploys a server on both nodes, and its pods have the addresses that they have there", async () => {
    await apply("web", [deployment])
    await kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    const own = await list("app=web")
    const real = (await kubernetes.client.list<Pod>(pods, { labelSelector: "app=web" })).items
    const view = ({ metadata, spec, status }: Pod): string =>
      [metadata.name, spec?.nodeName, status?.phase, status?.podIP, status?.hostIP].join(" ")
    expect(own.map(view).sort()).toEqual(real.map(view).sort())
    expect(new Set(own.map(({ spec }) => spec?.nodeName))).toEqual(new Set(["node1", "node2"]))
    await kubectl("run", "client", `--image=${image}`, "--", "pause")
    await kubectl("wait", "--for=condition=Ready", "pod/client", "--timeout=60s")
  })

  test("a pod reaches a service by its ClusterIP, all pods behind it", async () => {
    await kubectl("expose", "deployment/web", "--port=80", "--target-port=8080")
    const service = JSON.parse(await kubectl("get", "service", "web", "-o", "json")) as Service
    const names = (await list("app=web")).map(({ metadata }) => metadata.name ?? "").sort()
    const answers = new Set<string>()
    await eventually(
      async () => {
        answers.add(await inPod("client", ...curl, `http://${service.spec?.clusterIP}/hostname`))
        return answers.size === names.length
      },
      { timeoutMs: 30_000, what: "an answer of every pod" },
    )
    expect([...answers].sort()).toEqual(names)
  })

  test("a pod talks to its own API server with the token and the authority that are mounted, and is who it is", async () => {
    await kubectl("create", "clusterrolebinding", "see", "--clusterrole=view", "--serviceaccount=default:default")
    const folder = "/var/run/secrets/kubernetes.io/serviceaccount"
    for (const host of ["kubernetes.default.svc", "$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT"]) {
      const ask = (path: string): Promise<string> =>
        inPod(
          "client",
          "sh",
          "-c",
          `curl -s --cacert ${folder}/ca.crt -H "Authorization: Bearer $(cat ${folder}/token)" https://${host}${path}`,
        )
      const seen = JSON.parse(await ask("/api/v1/namespaces/default/pods")) as { items: Pod[] }
      expect(seen.items.map(({ metadata }) => metadata.name)).toContain("client")
      // Its own only, and nothing of the super cluster's.
      expect(JSON.parse(await ask("/api/v1/secrets"))).toMatchObject({ kind: "Status", code: 403 })
      expect(await ask("/api/v1/namespaces")).not.toContain("-demo-")
    }
  })

  test("names of services resolve with the tenant's own DNS, and nobody else's", async () => {
    await using client = await connectCluster(up.kubeconfig("demo"))
    await installCoreDNS(client)
    await kubectl("run", "resolver", `--image=${image}`, "--", "pause")
    await kubectl("wait", "--for=condition=Ready", "pod/resolver", "--timeout=60s")
    const answer = await eventually(() => inPod("resolver", ...curl, "http://web.default.svc.cluster.local/hostname"), {
      timeoutMs: 30_000,
    })
    expect((await list("app=web")).map(({ metadata }) => metadata.name)).toContain(answer)
    expect(await inPod("resolver", ...curl, "http://web/hostname")).toMatch(/^web-/)
    const resolve = (name: string): Promise<string> => inPod("resolver", "dig", "+short", `${name}.svc.cluster.local`)
    const own = JSON.parse(await kubectl("get", "service", "kube-dns", "-n", "kube-system", "-o", "json")) as Service
    expect((await resolve("kube-dns.kube-system")).trim()).toBe(own.spec?.clusterIP)
    const [copy] = (await kubernetes.client.list<Service>(services)).items.filter(
      ({ metadata }) => metadata.name === "web",
    )
    expect((await resolve(`web.${copy?.metadata.namespace}`)).trim()).toBe("")
  })

  test("logs are the container's own: all, the last, and as they come", async () => {
    await kubectl("run", "talker", `--image=${image}`, "--command", "--", "sh", "-c", talk)
    await kubectl("wait", "--for=condition=Ready", "pod/talker", "--timeout=60s")
    await eventually(async () => (await kubectl("logs", "talker")).includes("2\n"))
    expect(await kubectl("logs", "talker")).toMatch(/^0\n1\n2\n/)
    expect(await kubectl("logs", "talker", "--limit-bytes=3")).toBe("0\n1")
    const following = start("kubectl", ["logs", "-f", "--tail=1", "talker"], { env: up.environment() })
    const said = collect(following.stdout)
    await eventually(() => said().split("\n").length > 3)
    following.kill()
    await once(following, "close")
  })

  test("exec has standard input and output, and the command's exit code", async () => {
    expect((await inPod("client", "hostname")).trim()).toBe("client")
    const echoed = await up.kubectl(["exec", "-i", "client", "--", "cat"], { input: "over and back" })
    expect(echoed).toBe("over and back")
    const { code } = await up.tryKubectl(["exec", "client", "--", "sh", "-c", "exit 7"])
    expect(code).toBe(7)
  })

  test("port-forward reaches the container", async () => {
    const forwarding = start("kubectl", ["port-forward", "deployment/web", ":8080"], { env: up.environment() })
    const said = collect(forwarding.stdout)
    const port = await eventually(() => /127\.0\.0\.1:(\d+)/.exec(said())?.[1])
    const answer = await (await fetch(`http://127.0.0.1:${port}/hostname`)).text()
    expect((await list("app=web")).map(({ metadata }) => metadata.name)).toContain(answer)
    forwarding.kill()
    await once(forwarding, "close")
  })

  test(
    "kubectl copies, forwards and debugs as it does in the super cluster itself",
    { timeout: 3 * timeoutMs },
    async () => {
      const namespace = "containers"
      const server = ["run", "server", "-n", namespace, `--image=${image}`, "--", "netexec", "--http-port=8080"]
      const typed = async (kubeconfig: string, name: string): Promise<unknown> => {
        const where = { env: up.environment(kubeconfig), namespace, directory: up.path(name) }
        await mkdir(where.directory, { recursive: true })
        await succeed("kubectl", ["create", "namespace", namespace], where)
        await succeed("kubectl", ["wait", "--for=create", "serviceaccount/default", "-n", namespace], where)
        await succeed("kubectl", server, where)
        const printed = await typeSteps(containerSteps(image), where)
        await succeed("kubectl", ["wait", "--for=condition=Ready", "pod/server", "-n", namespace], where)
        return { printed, forwarded: await forward("pod/server", 8080, where) }
      }
      const [real, tenant] = await Promise.all([
        typed(kubernetes.kubeconfig, "in-super"),
        typed(up.kubeconfig("demo"), "in-tenant"),
      ])
      expect(tenant).toEqual(real)
    },
  )

  test("the tenant has the metrics of its own pods, and scales by them", { timeout: 3 * timeoutMs }, async () => {
    await using _metrics = await provideResourceMetrics(kubernetes)
    await kubectl("create", "deployment", "busy", `--image=${image}`, "--", "sh", "-c", "while true; do :; done")
    await kubectl("set", "resources", "deployment/busy", "--requests=cpu=50m", "--limits=cpu=200m")
    await apply("autoscaler", [autoscaler])
    // The autoscaler waits until a new pod has been measured after it became ready.
    const scaled = ["wait", "--for=jsonpath={.spec.replicas}=2", "deployment/busy", "--timeout=150s"]
    await up.kubectl(scaled, { timeoutMs: 160_000 })
    const top = async (what: string): Promise<string[][]> =>
      [...(await kubectl("top", what, "--no-headers")).matchAll(/^(\S+) +(\S+)/gm)].map((row) => row.slice(1))
    const measured = await top("pods")
    const own = new Set((await list("")).map(({ metadata }) => metadata.name ?? ""))
    expect(measured.filter(([name = ""]) => !own.has(name))).toEqual([])
    expect(measured.find(([name]) => name?.startsWith("busy-"))?.[1]).toMatch(/^[1-9]\d*m$/)
    expect((await top("nodes")).map(([name]) => name)).toEqual(["node1", "node2"])
    await kubectl("delete", "hpa,deployment", "busy", "--timeout=60s")
  })

  test("scales, and deletes all of it, in the super cluster too", async () => {
    await kubectl("scale", "deployment/web", "--replicas=3")
    await kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    await kubectl("delete", "deployment/web", "service/web", "--timeout=60s")
    await kubectl("delete", "pod", "client", "resolver", "talker", "--grace-period=1", "--timeout=60s")
    await eventually(async () => (await list("")).length === 0, { timeoutMs: 60_000 })
    const left = (await kubernetes.client.list<Pod>(pods)).items
    expect(left.filter(({ metadata }) => metadata.namespace?.endsWith("-demo-default"))).toEqual([])
  })

  test(
    "a kubelet joins a tenant with a token, and runs what is made for its node",
    { timeout: 3 * timeoutMs },
    async () => {
      expect(await up.cli(["tenant", "create", "own"])).toMatchObject({ stderr: "", code: 0 })
      const own = (...args: string[]) => up.kubectl(args, { kubeconfig: "own", timeoutMs: 60_000 })
      await joinKubelet(kubernetes, {
        machine: ownMachine,
        node: "own1",
        kubeconfig: up.kubeconfig("own"),
        kubectl: own,
      })
      await using client = await connectCluster(up.kubeconfig("own"))
      await own("create", "configmap", "words", "--from-literal=greeting=hello")
      await apply("own", [ownPod, daemonSet], "own")
      await own("rollout", "status", "daemonset/everywhere", "--timeout=60s")
      await own("wait", "--for=condition=Ready", "pod/here", "--timeout=60s")
      const selected = { labelSelector: "app=everywhere" }
      const nodeNames = (list: { items: Pod[] }) => list.items.map(({ spec }) => spec?.nodeName ?? "").sort()
      expect(nodeNames(await client.list<Pod>(pods, selected))).toEqual(["node1", "node2", "own1"])
      expect(nodeNames(await kubernetes.client.list<Pod>(pods, selected))).toEqual(["node1", "node2"])
      await eventually(async () => (await own("logs", "here")).includes("Paused"))
      expect(await own("exec", "here", "--", "cat", "/words/greeting")).toBe("hello")
      // Only its kubelet deletes it, when its container has ended.
      await own("delete", "pod", "here", "--timeout=60s")
      await own("delete", "daemonset", "everywhere", "--timeout=60s")
      await eventually(async () => (await client.list(pods)).items.length === 0, { timeoutMs: 60_000 })
    },
  )

  async function apply(name: string, objects: readonly unknown[], kubeconfig = "demo"): Promise<void> {
    const file = up.path(`${name}.json`)
    await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }))
    await up.kubectl(["apply", "-f", file], { kubeconfig })
  }
})

const curl = ["curl", "--silent", "--fail", "--max-time", "5"]
const talk = "i=0; while true; do echo $i; i=$((i+1)); sleep 0.2; done"
