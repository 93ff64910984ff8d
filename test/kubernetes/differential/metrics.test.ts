// /metrics: metrics that dashboards use, and those that kube-apiserver declares stable, exist with the same names, types and
// labels, and count the same requests equally.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createHttpClient } from "../../../client/http/client.ts"
import { ClientMetrics } from "../../../client/metrics/client-metrics.ts"
import { namespaces } from "../../../client/resources.ts"
import { startControllers } from "../../../controllers/main.ts"
import { startTestGateway } from "../../../gateway/testing/start-gateway.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { lacks } from "../harness/needs.ts"
import { Connection } from "./connection.ts"
import { leftOut, type Place, shown } from "./dashboards.ts"
import { until } from "./run.ts"
import { type Servers, startServers } from "./servers.ts"

const countedAlike = [
  "apiserver_request_total",
  "apiserver_request_duration_seconds_count",
  "apiserver_response_sizes_count",
]

const openMetrics = "application/openmetrics-text"
const accepts = [
  "",
  "*/*",
  "text/plain",
  "text/*",
  "text/plain;version=0.0.4",
  "text/plain;version=1.0.0",
  "text/plain;version=1.0.0;escaping=allow-utf-8",
  "text/plain; escaping=dots",
  "text/plain;escaping=values;q=0.1",
  "text/plain;escaping=other",
  "text/plain, text/html;escaping=dots",
  "text/html;escaping=dots, text/plain;q=0.5",
  openMetrics,
  `${openMetrics};version=1.0.0;escaping=allow-utf-8;q=0.6,${openMetrics};version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
  "application/json",
  "application/vnd.google.protobuf",
  "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=other;escaping=dots",
  "application/yaml;escaping=values,*/*",
]

interface Family {
  type: string
  stable: boolean
  labels: ReadonlySet<string>
  /** The bounds of a histogram. */
  bounds: ReadonlySet<string>
}

interface Metrics {
  families: ReadonlyMap<string, Family>
  samples: ReadonlyMap<string, number>
}

describe.skipIf(lacks(TestKubernetes.binaries()))("a tenant's metrics are those of kube-apiserver", () => {
  let servers: Servers
  let gateway: Connection
  const stack = new AsyncDisposableStack()
  beforeAll(async () => {
    servers = stack.use(await startServers())
    gateway = stack.use(await startGateway(stack))
    await Promise.all([servers.kubernetes, servers.polyplane, gateway].map((server) => act(server, "before")))
  })
  afterAll(() => stack.disposeAsync())

  test.each(["tenant", "gateway"] as const)(
    "what dashboards ask for has the same type and labels with a %s",
    async (place) => {
      const server = place === "tenant" ? servers.polyplane : gateway
      const [theirs, ours] = await Promise.all([metricsOf(servers.kubernetes), settled(server, place)])
      const wanted = namesAt(place).map((name) => [name, theirs.families.get(name)] as const)
      expect(wanted.filter(([, family]) => family === undefined).map(([name]) => name)).toEqual([])
      expect(shapes(ours, wanted)).toEqual(shapes(theirs, wanted))
    },
  )

  test("what is left out is there with kube-apiserver, and nowhere here", async () => {
    const [theirs, ...ours] = await Promise.all([servers.kubernetes, servers.polyplane, gateway].map(metricsOf))
    const names = Object.keys(leftOut)
    expect(names.filter((name) => theirs?.families.has(name) !== true)).toEqual([])
    expect(names.filter((name) => ours.some(({ families }) => families.has(name)))).toEqual([])
  })

  test("the answer says since when it has been counted", async () => {
    const { headers: theirs } = await servers.kubernetes.call("GET", "/metrics")
    expect(theirs["process-start-time-unix"]).toMatch(/^\d+$/)
    for (const server of [servers.polyplane, gateway]) {
      const { headers, body } = await server.call("GET", "/metrics")
      const [, began] = /^process_start_time_seconds (\S+)$/m.exec(body.toString()) ?? []
      expect(headers["process-start-time-unix"]).toBe(String(Math.floor(Number(began))))
    }
  })

  test.each(["/metrics", "/metrics/slis"])("%s has the form that is asked for", async (path) => {
    for (const accept of accepts) {
      const [theirs, ours, gateways] = await Promise.all(
        [servers.kubernetes, servers.polyplane, gateway].map(async (server) => {
          const { code, headers } = await server.call("GET", path, { headers: { accept } })
          return [accept, code, headers["content-type"], headers["content-encoding"]]
        }),
      )
      expect(ours).toEqual(theirs)
      expect(gateways).toEqual(theirs)
    }
  })

  test("what is stable has the same type and labels", async () => {
    const [theirs, ours] = await Promise.all([metricsOf(servers.kubernetes), metricsOf(servers.polyplane)])
    const stable = [...theirs.families].filter(([, { stable }]) => stable)
    expect(stable.length).toBeGreaterThan(8)
    const wanted = stable.filter(([name]) => leftOut[name] === undefined)
    expect(shapes(ours, wanted)).toEqual(shapes(theirs, wanted))
  })

  test("the same requests are counted alike", async () => {
    const counted = async (server: Connection): Promise<Record<string, number>> => {
      const before = await metricsOf(server)
      await act(server, "counted")
      let found: Record<string, number> = {}
      // A request is counted after its response has been sent.
      const isWhole = (): boolean => (found[deleted] ?? 0) > 0
      for (let time = 0; time < 100 && !isWhole(); time++) {
        found = difference(before, await metricsOf(server))
        await until(isWhole, 50)
      }
      return found
    }
    const [theirs, ours] = await Promise.all([counted(servers.kubernetes), counted(servers.polyplane)])
    expect(ours).toEqual(theirs)
    expect(Object.keys(ours).length).toBeGreaterThan(20)
  })

  test("a tenant forgets its own, as kube-apiserver does", async () => {
    for (const server of [servers.kubernetes, servers.polyplane]) {
      await act(server, "forgotten")
      const { code, body } = await server.call("DELETE", "/metrics")
      expect([code, body.toString()]).toEqual([200, "metrics reset\n"])
      const { samples } = await metricsOf(server)
      expect([...samples.keys()].filter((sample) => sample.includes('resource="podtemplates"'))).toEqual([])
    }
    const { code } = await gateway.call("DELETE", "/metrics")
    expect(code).toBe(405)
    const { samples } = await metricsOf(gateway)
    expect([...samples.keys()].some((sample) => sample.includes('resource="podtemplates"'))).toBe(true)
  })
})

function shapes({ families }: Metrics, wanted: readonly (readonly [string, ...unknown[]])[]): Record<string, unknown> {
  return Object.fromEntries(
    wanted.map(([name]) => {
      const found = families.get(name)
      return [name, found && { type: found.type, labels: [...found.labels].sort(), bounds: [...found.bounds] }]
    }),
  )
}

const namesAt = (place: Place): string[] => shown.filter(({ places }) => places.includes(place)).map(({ name }) => name)

/** Requests are counted after their responses have been sent, and queues after their controllers have started. */
async function settled(server: Connection, place: Place): Promise<Metrics> {
  for (let time = 0; ; time++) {
    const metrics = await metricsOf(server)
    if (time === 100 || namesAt(place).every((name) => metrics.families.has(name))) return metrics
    await until(() => false, 50)
  }
}

/** Starts a gateway that is also the super cluster, with the controllers of a tenant and a client of another server: itself. */
async function startGateway(stack: AsyncDisposableStack): Promise<Connection> {
  const metrics = new ClientMetrics()
  const served = stack.use(await startTestGateway({ clientMetrics: metrics }))
  const { gateway } = served
  const { url, certificateAuthority, administrator } = gateway
  const rootCertificateAuthority = certificateAuthority
  stack.use(startControllers(gateway.tenants, { rootCertificateAuthority, only: ["serviceaccount"], metrics }))
  const client = stack.use(createHttpClient({ server: url, certificateAuthority, ...administrator, metrics }))
  await client.list(namespaces)
  const { url: tenantUrl, certificate = "", key = "" } = await served.createTenant("one")
  using tenant = new Connection({ name: "tenant", url: tenantUrl, certificateAuthority, certificate, key })
  await act(tenant, "one") // wakes it for its controllers
  return new Connection({ name: "gateway", url, certificateAuthority, ...administrator })
}

/** The last request of {@link act}. */
const deleted =
  'apiserver_request_duration_seconds_count{component="apiserver",dry_run="",group="",resource="podtemplates",scope="namespace",subresource="",verb="DELETE",version="v1"}'

/** Uses a kind that no component of a control plane requests by itself. */
async function act(server: Connection, name: string): Promise<void> {
  const all = "/api/v1/podtemplates"
  const list = "/api/v1/namespaces/default/podtemplates"
  const spec = { containers: [{ name: "a", image: "a" }] }
  const object = { apiVersion: "v1", kind: "PodTemplate", metadata: { name }, template: { spec } }
  const send = async (method: string, path: string, body?: object, type = "application/json"): Promise<void> => {
    const headers = body === undefined ? {} : { "content-type": type }
    await server.call(method, path, { headers, body: body && JSON.stringify(body) })
  }
  await send("POST", "/api/v1/namespaces", { metadata: { name: "default" } })
  await send("POST", `${list}?dryRun=All`, object)
  await send("POST", list, object)
  await send("POST", list, object) // exists already
  await send("GET", `${list}/${name}`)
  await send("GET", `${list}/absent`)
  await send("GET", list)
  await send("GET", all)
  await send("PUT", `${list}/${name}`, object)
  await send("PATCH", `${list}/${name}`, { metadata: { labels: { a: "b" } } }, "application/merge-patch+json")
  await send("PATCH", `${list}/${name}?fieldManager=x&force=true`, object, "application/apply-patch+yaml")
  await send("GET", `${list}?watch=true&timeoutSeconds=1`)
  await send("GET", "/api/v1/endpoints")
  await send("GET", "/api/v1/limitranges?timeout=1ns") // times out
  await server.call("GET", "/api/v1/limitranges", { headers: { "impersonate-user": "nobody" } }) // impersonation
  await send("DELETE", `${list}/${name}?dryRun=All`)
  await send("DELETE", `${list}/${name}`)
  await send("DELETE", list)
}

async function metricsOf(server: Connection): Promise<Metrics> {
  const { code, body } = await server.call("GET", "/metrics")
  expect(code).toBe(200)
  const families = new Map<string, { type: string; stable: boolean; labels: Set<string>; bounds: Set<string> }>()
  const samples = new Map<string, number>()
  let family = { type: "", stable: false, labels: new Set<string>(), bounds: new Set<string>() }
  for (const line of body.toString().split("\n")) {
    const [, word, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (word === "HELP")
      families.set(
        name,
        (family = { type: "", stable: rest.startsWith("[STABLE]"), labels: new Set(), bounds: new Set() }),
      )
    else if (word === "TYPE") family.type = rest
    else if (line !== "") {
      const end = line.lastIndexOf(" ")
      const sample = line.slice(0, end)
      samples.set(sample, Number(line.slice(end + 1)))
      for (const [, label = "", value = ""] of sample.matchAll(/[{,](\w+)="([^"]*)/g)) {
        if (label === "le") family.bounds.add(value)
        else family.labels.add(label)
      }
    }
  }
  return { families, samples }
}

/** For the kind that {@link act} uses. */
function difference(before: Metrics, after: Metrics): Record<string, number> {
  const names = [...after.samples.keys()].filter(
    (sample) => sample.includes('resource="podtemplates"') && countedAlike.includes(sample.split("{")[0] ?? ""),
  )
  const changes = names.map((name) => [name, (after.samples.get(name) ?? 0) - (before.samples.get(name) ?? 0)] as const)
  return Object.fromEntries(changes.filter(([, change]) => change !== 0))
}
