// The components in separate processes, as manifests/ runs them on a real super cluster: gateway, operator, syncer and one vn-agent
// find each other only through Secrets and kubeconfigs. The super cluster is in this process.

import { once } from "node:events"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import type { IncomingMessage } from "node:http"
import { get } from "node:https"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { stringify } from "yaml"
import type { KubeObject, Node, Pod, Secret, Service } from "../../apimachinery/object.ts"
import { createHttpClient } from "../../client/http/client.ts"
import { loadKubeconfig } from "../../client/credentials/kubeconfig.ts"
import { silentLog } from "../../client/log.ts"
import { namespaces, nodes, pods, secrets, services, virtualClusters } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { singleCluster } from "../../client/single-cluster.ts"
import { readKubeconfig, type VirtualCluster } from "../../cli/tenant/virtual-clusters.ts"
import { createNodeAuthority } from "../../cli/up/node-authority.ts"
import { startControllers } from "../../controllers/main.ts"
import { countingAddresses, startTestGateway } from "../../gateway/testing/start-gateway.ts"
import { startKubeletServer } from "../../simulator/kubelet-server/server.ts"
import { startSimulator, type Simulator } from "../../simulator/main.ts"
import { eventually } from "../harness/eventually.ts"
import { repository } from "../harness/polyplane.ts"
import { freePorts } from "../harness/ports.ts"
import { collect, run, start, succeed } from "../harness/processes.ts"

const main = path.join(repository, "cli", "polyplane.mjs")
const namespace = "polyplane-system"
const node = "node-1"
const stack = new AsyncDisposableStack()

let directory: string
let superClient: KubeClient
let kubeconfig: string
const healthUrls = new Map<string, string>()
const parts = new Map<string, { stdout: () => string; stderr: () => string; stop: () => Promise<number | null> }>()

/** Starts `polyplane <name>` with this configuration and waits until it reports that it is ready. */
async function startPart(name: string, config: object, env: NodeJS.ProcessEnv = {}): Promise<void> {
  const file = path.join(directory, `${name}.yaml`)
  await writeFile(file, stringify({ ...config, superKubeconfig: "super.kubeconfig", logLevel: "warn" }))
  const child = start(process.execPath, [main, name, "--config", file], {
    env: { ...process.env, ...env },
    stdio: "pipe",
  })
  const part = {
    stdout: collect(child.stdout),
    stderr: collect(child.stderr),
    async stop() {
      if (child.exitCode !== null) return child.exitCode
      const closed = once(child, "close")
      child.kill("SIGTERM")
      await closed
      return child.exitCode
    },
  }
  parts.set(name, part)
  stack.defer(async () => void (await part.stop()))
  await eventually(
    () => {
      if (child.exitCode !== null) throw new Error(`${name} ended: ${part.stderr()}`)
      return part.stdout().includes(`polyplane ${name} is ready`)
    },
    { what: `polyplane ${name} ready` },
  )
}

/** Writes a Secret's values to files, as in a pod's volume. */
async function mountSecret(name: string): Promise<void> {
  const { data } = await eventually(() => superClient.get<Secret>(secrets, namespace, name), { what: `secret ${name}` })
  await mkdir(path.join(directory, name))
  for (const [key, value] of Object.entries(data ?? {})) {
    await writeFile(path.join(directory, name, key), Buffer.from(value, "base64"), { mode: 0o600 })
  }
}

/** Like a probe of the kubelet: without a credential, and without verifying the certificate. */
async function probe(url: string): Promise<number | undefined> {
  const [response] = (await once(get(url, { rejectUnauthorized: false, agent: false }), "response")) as [
    IncomingMessage,
  ]
  response.resume()
  return response.statusCode
}

const object = <T extends KubeObject>(apiVersion: string, kind: string, metadata: object, more: object = {}): T =>
  ({ apiVersion, kind, metadata, ...more }) as unknown as T

const kubectl = (...args: string[]) =>
  succeed("kubectl", args, { env: { ...process.env, KUBECONFIG: kubeconfig, HOME: directory } })

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "polyplane-parts-"))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const addresses = countingAddresses()
  const { gateway } = stack.use(await startTestGateway({ serviceAddresses: () => addresses }))
  await writeFile(path.join(directory, "super.kubeconfig"), await gateway.adminKubeconfig())
  superClient = gateway.superCluster!.client
  stack.use(startControllers(singleCluster(superClient), { rootCertificateAuthority: gateway.certificateAuthority }))
  await superClient.create(namespaces, object("v1", "Namespace", { name: namespace }))

  const authority = await createNodeAuthority()
  let simulator: Simulator | undefined
  const kubelet = stack.use(
    await startKubeletServer({
      node,
      host: "127.0.0.1",
      port: 0,
      tls: authority.serving,
      clientCertificateAuthority: authority.certificateAuthority,
      sandbox: (podNamespace, pod) => simulator?.sandbox(node, podNamespace, pod),
      log: silentLog,
    }),
  )
  simulator = stack.use(await startSimulator({ client: superClient, nodes: 1, kubeletPort: () => kubelet.port }))

  const [vnAgentPort = 0, ...healthPorts] = await freePorts(5)
  const health = (name: string) => {
    const port = healthPorts.pop() ?? 0
    healthUrls.set(name, `http://127.0.0.1:${port}`)
    return { host: "127.0.0.1", port }
  }
  await startPart("gateway", {
    dataDir: "data",
    port: 0,
    adminKubeconfigSecret: `${namespace}/gateway-admin`,
    identitySecret: `${namespace}/gateway-identity`,
    vnAgentPort,
    auditLog: "audit.log",
    health: health("gateway"),
  })
  await Promise.all([mountSecret("gateway-admin"), mountSecret("gateway-identity")])
  for (const [file, content] of [
    ["kubelet-ca.crt", authority.certificateAuthority],
    ["kubelet.crt", authority.certificate],
    ["kubelet.key", authority.key],
  ] as const) {
    await writeFile(path.join(directory, file), content)
  }
  await Promise.all([
    startPart("operator", { gatewayKubeconfig: "gateway-admin/kubeconfig", health: health("operator") }),
    startPart("syncer", {
      gatewayKubeconfig: "gateway-admin/kubeconfig",
      publishNodes: "all",
      vnAgentPort,
      health: health("syncer"),
    }),
    startPart(
      "vn-agent",
      {
        host: "127.0.0.1",
        port: vnAgentPort,
        health: health("vn-agent"),
        identityKeys: "gateway-identity/identity.pub",
        certificate: "gateway-identity/tls.crt",
        key: "gateway-identity/tls.key",
        kubelet: {
          port: kubelet.port,
          certificateAuthority: "kubelet-ca.crt",
          certificate: "kubelet.crt",
          key: "kubelet.key",
          serverName: "localhost",
        },
      },
      { NODE_NAME: node },
    ),
  ])
})

afterAll(() => stack.disposeAsync())

describe("gateway, operator, syncer and vn-agent in separate processes", () => {
  let tenant: KubeClient

  test("the gateway responds to probes", async () => {
    const [, url = ""] = /ready: (\S+)/.exec(parts.get("gateway")?.stdout() ?? "") ?? []
    expect(await probe(`${url}/livez`)).toBe(200)
    expect(await probe(`${url}/readyz`)).toBe(200)
  })

  test("a VirtualCluster becomes a tenant", async () => {
    const wanted = object<VirtualCluster>(
      "tenancy.x-k8s.io/v1alpha1",
      "VirtualCluster",
      { name: "demo", namespace: "default" },
      { spec: { clusterVersionName: "default" } },
    )
    await eventually(() => superClient.create(virtualClusters, wanted), { what: "VirtualClusters served" })
    const running = await eventually(
      async () => {
        const found = await superClient.get<VirtualCluster>(virtualClusters, "default", "demo")
        return found.status?.phase === "Running" && found
      },
      { what: "the VirtualCluster running" },
    )
    const text = await readKubeconfig(superClient, running)
    kubeconfig = path.join(directory, "demo.kubeconfig")
    await writeFile(kubeconfig, text, { mode: 0o600 })
    tenant = stack.use(createHttpClient(await loadKubeconfig(text)))
    const [first] = await eventually(async () => {
      const { items } = await tenant.list<Node>(nodes)
      return items.length > 0 && items
    })
    expect(first?.metadata.name).toBe(node)
  })

  test("a tenant's pod runs in the super cluster", async () => {
    await kubectl("run", "web", "--image=nginx")
    const pod = await eventually(
      async () => {
        const found = await tenant.get<Pod>(pods, "default", "web")
        return found.status?.phase === "Running" && found
      },
      { what: "the tenant's pod running" },
    )
    expect(pod.spec?.nodeName).toBe(node)
    const copies = (await superClient.list<Pod>(pods)).items.filter(({ metadata }) => metadata.name === "web")
    expect(copies.map(({ status }) => status?.podIP)).toEqual([pod.status?.podIP])
  })

  test("the controllers of tenants run with the gateway", async () => {
    await kubectl("create", "deployment", "many", "--image=nginx", "--replicas=2")
    expect(await kubectl("rollout", "status", "deployment", "many", "--timeout=15s")).toContain(
      "successfully rolled out",
    )
  })

  test("a Service has its address in the super cluster", async () => {
    await kubectl("expose", "pod", "web", "--port=80")
    const { spec } = await tenant.get<Service>(services, "default", "web")
    const copies = (await superClient.list<Service>(services)).items.filter(({ metadata }) => metadata.name === "web")
    expect(copies.map((copy) => copy.spec?.clusterIP)).toEqual([spec?.clusterIP])
  })

  test("logs and exec are proxied by the node's vn-agent", async () => {
    expect(await kubectl("exec", "web", "--", "hostname")).toBe("web\n")
    expect(await kubectl("logs", "web")).not.toBe("")
  })

  test("every part serves probes and metrics", async () => {
    const metricsOf = async (name: string) => {
      const url = healthUrls.get(name)
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
      return await (await fetch(`${url}/metrics`)).text()
    }
    const host = new URL((await loadKubeconfig(path.join(directory, "super.kubeconfig"))).server).host
    expect(await metricsOf("vn-agent")).toContain(`rest_client_requests_total{code="200",host="${host}",method="GET"}`)
    const gateway = await metricsOf("gateway")
    expect(gateway).toMatch(/^polyplane_tenants \d+$/m)
    expect(gateway).toMatch(/^apiserver_request_total\{/m)
    expect(gateway.match(/^process_open_fds /gm)).toHaveLength(1)
    const syncer = await metricsOf("syncer")
    expect(syncer).toContain('leader_election_master_status{name="polyplane-syncer"} 1\n')
    expect(syncer).toMatch(/^workqueue_adds_total\{name="syncer"\} [1-9]/m)
    expect(syncer).toMatch(/^polyplane_syncer_patrol_duration_seconds_count [1-9]/m)
    const operator = await metricsOf("operator")
    expect(operator).toContain('leader_election_master_status{name="polyplane-operator"} 1\n')
    expect(operator).toMatch(/^workqueue_adds_total\{name="operator"\} [1-9]/m)
  })

  test("the gateway's audit log has requests", async () => {
    const lines = (await readFile(path.join(directory, "audit.log"), "utf8")).trimEnd().split("\n")
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    const exec = { tenant: "demo", user: "admin", resource: "pods", subresource: "exec", name: "web" }
    expect(entries).toContainEqual(expect.objectContaining(exec))
  })

  test("every part exits with code 0 on request", async () => {
    for (const name of ["vn-agent", "syncer", "operator", "gateway"]) {
      const part = parts.get(name)
      expect([name, await part?.stop(), part?.stderr()]).toEqual([name, 0, ""])
    }
  })

  test("the data of the gateway is consistent", async () => {
    const checked = await run(process.execPath, [main, "check", "--data-dir", path.join(directory, "data")])
    // If the check takes long, its progress is written to stderr.
    expect(checked).toMatchObject({ code: 0, stdout: "2 stores, no faults\n" })
  })
})
