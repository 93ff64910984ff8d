// Pods through tenants, compared with the same pods created directly in the super cluster: a deployment of three until it is
// ready, and many pods over many tenants until all run. Each variant uses a separate process, one after the other.
//   node bench/pods.ts [pods, 1000] [tenants, 20]

import type { KubeObject, Pod } from "../apimachinery/object.ts"
import { deployments, namespaces, pods } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import { startPolyplane, type Polyplane } from "../test/harness/polyplane.ts"
import { progress } from "./progress.ts"
import { argument, atMost, quantile, report } from "./report.ts"
import { adminClient, TenantMaker, type Client } from "./tenant-clients.ts"

const count = argument(0, 1000)
const places = argument(1, 20)
const perPlace = Math.ceil(count / places)
/** Number of concurrent creates per tenant or namespace. */
const parallel = 4
const deploymentRounds = 5
const timeoutMs = 180_000
/** A simulated node has room for 500 pods. */
const nodes = Math.max(3, Math.ceil(count / 400))

/** Where pods are created: a namespace of a tenant or of the super cluster. */
interface Place {
  client: KubeClient
  namespace: string
}

const podSpec = { containers: [{ name: "main", image: "nginx" }] }

async function fill({ client, namespace }: Place): Promise<number[]> {
  const begun = new Map<string, number>()
  const latencies: number[] = []
  const stopped = AbortSignal.timeout(timeoutMs)
  const { metadata } = await client.list<Pod>(pods, { namespace, limit: 1 })
  const { resourceVersion } = metadata
  const watching = (async () => {
    const ran = new Set<string>()
    for await (const { object } of client.watch<Pod>(pods, { namespace, resourceVersion, signal: stopped })) {
      const name = object.metadata.name ?? ""
      const begin = begun.get(name)
      if (object.status?.phase !== "Running" || ran.has(name) || begin === undefined) continue
      ran.add(name)
      latencies.push(performance.now() - begin)
      if (ran.size === perPlace) return
    }
    throw new Error(`only ${ran.size} of ${perPlace} pods ran within ${timeoutMs} ms in ${namespace}`)
  })()
  let next = 0
  const worker = async () => {
    while (next < perPlace) {
      const name = `pod-${next++}`
      begun.set(name, performance.now())
      await client.create<Pod>(pods, { apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, spec: podSpec })
    }
  }
  await Promise.all([watching, ...Array.from({ length: parallel }, worker)])
  return latencies
}

interface Rate {
  perSecond: number
  p50: number
  p99: number
}

async function fillAll(all: readonly Place[]): Promise<Rate> {
  progress(`${perPlace * all.length} pods`)
  const begin = performance.now()
  const latencies = (await Promise.all(all.map(fill))).flat()
  const seconds = (performance.now() - begin) / 1000
  return { perSecond: latencies.length / seconds, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) }
}

interface Deployment extends KubeObject {
  spec: object
  status?: { availableReplicas?: number }
}

/** From creating a deployment of three to three available replicas. */
async function deploy({ client, namespace }: Place, name: string): Promise<number> {
  const labels = { app: name }
  const signal = AbortSignal.timeout(timeoutMs)
  const begin = performance.now()
  const { metadata } = await client.create<Deployment>(deployments, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace },
    spec: { replicas: 3, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } },
  })
  const options = { namespace, fieldSelector: `metadata.name=${name}`, signal }
  const { resourceVersion = "" } = metadata
  for await (const { object } of client.watch<Deployment>(deployments, { ...options, resourceVersion })) {
    if (object.status?.availableReplicas === 3) return performance.now() - begin
  }
  throw new Error(`deployment ${name} was not ready within ${timeoutMs} ms`)
}

/** The same three pods without a deployment and without a tenant. */
async function three({ client, namespace }: Place, name: string): Promise<number> {
  const begin = performance.now()
  const signal = AbortSignal.timeout(timeoutMs)
  const { metadata } = await client.list<Pod>(pods, { namespace, limit: 1 })
  const create = (index: number) =>
    client.create<Pod>(pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `${name}-${index}`, namespace },
      spec: podSpec,
    })
  await Promise.all([0, 1, 2].map(create))
  const ready = new Set<string>()
  for await (const { object } of client.watch<Pod>(pods, { namespace, ...metadata, signal })) {
    const isReady =
      object.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true
    if (isReady && object.metadata.name?.startsWith(`${name}-`) === true) ready.add(object.metadata.name)
    if (ready.size === 3) return performance.now() - begin
  }
  throw new Error(`pods ${name} were not ready within ${timeoutMs} ms`)
}

async function rounds(work: (name: string) => Promise<number>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < deploymentRounds; round++) {
    progress("three pods", round, deploymentRounds)
    times.push(await work(`three-${round}`))
  }
  return quantile(times, 0.5)
}

const start = (): Promise<Polyplane> => startPolyplane({ args: ["--tenants", "", "--nodes", String(nodes)] })

async function direct(): Promise<Rate & { three: number }> {
  progress("without tenants")
  await using up = await start()
  await using client = await adminClient(up)
  const all = Array.from({ length: places }, (_, index) => ({ client, namespace: `place-${index}` }))
  for (const { namespace: name } of all) {
    await client.create<KubeObject>(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } })
  }
  const place = { client, namespace: "default" }
  return { three: await rounds((name) => three(place, name)), ...(await fillAll(all)) }
}

async function throughTenants(): Promise<Rate & { three: number }> {
  progress("through tenants")
  await using up = await start()
  await using client = await adminClient(up)
  await using maker = await TenantMaker.start(client)
  await using stack = new AsyncDisposableStack()
  const all: Place[] = []
  for (let index = 0; index < places; index++) {
    const tenant: Client = stack.use(await maker.make(`tenant-${index}`))
    all.push({ client: tenant, namespace: "default" })
  }
  const tenant = stack.use(await maker.make("deployments"))
  const place = { client: tenant, namespace: "default" }
  return { three: await rounds((name) => deploy(place, name)), ...(await fillAll(all)) }
}

const base = await direct()
const ours = await throughTenants()
const compared = (value: number, what = "the same, without tenants") => ({ with: what, value })
await report("pods", { pods: perPlace * places, tenants: places, nodes }, [
  {
    what: "deployment of 3 in a tenant, ready",
    value: ours.three,
    unit: "ms",
    goal: atMost(2000),
    compared: compared(base.three, "3 bare pods, without tenants"),
  },
  { what: "pods running", value: ours.perSecond, unit: "pods/s", compared: compared(base.perSecond) },
  { what: "create to Running, p50", value: ours.p50, unit: "ms", compared: compared(base.p50) },
  { what: "create to Running, p99", value: ours.p99, unit: "ms", compared: compared(base.p99) },
])
