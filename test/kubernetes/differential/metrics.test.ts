// /metrics: what kube-apiserver calls stable there is under the same names, of the same types and labels, and counts the same
// requests alike.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { lacks } from "../harness/needs.ts"
import type { Connection } from "./connection.ts"
import { until } from "./run.ts"
import { type Servers, startServers } from "./servers.ts"

/** Stable metrics a control plane does not have. */
const leftOut: Readonly<Record<string, string>> = {
  apiserver_admission_controller_admission_duration_seconds: "admission plugins are not timed one by one",
  apiserver_admission_step_admission_duration_seconds: "admission is not timed apart from the request",
  apiserver_storage_objects: "counting the objects of a store costs a scan over its keys at each scrape",
  apiserver_storage_size_bytes: "there is no etcd whose size it would be",
}
const countedAlike = [
  "apiserver_request_total",
  "apiserver_request_duration_seconds_count",
  "apiserver_response_sizes_count",
]

interface Family {
  type: string
  stable: boolean
  labels: ReadonlySet<string>
}

interface Metrics {
  families: ReadonlyMap<string, Family>
  samples: ReadonlyMap<string, number>
}

describe.skipIf(lacks(TestKubernetes.binaries()))("a tenant's metrics are those of kube-apiserver", () => {
  let servers: Servers
  beforeAll(async () => {
    servers = await startServers()
    await Promise.all([servers.kubernetes, servers.polyplane].map((server) => act(server, "before")))
  })
  afterAll(() => servers[Symbol.asyncDispose]())

  test("what is stable has the same type and labels", async () => {
    const [theirs, ours] = await Promise.all([metricsOf(servers.kubernetes), metricsOf(servers.polyplane)])
    const stable = [...theirs.families].filter(([, { stable }]) => stable)
    expect(stable.length).toBeGreaterThan(8)
    for (const name of Object.keys(leftOut)) expect(stable.map(([each]) => each)).toContain(name)
    const wanted = stable.filter(([name]) => leftOut[name] === undefined)
    expect(shapes(ours, wanted)).toEqual(shapes(theirs, wanted))
  })

  test("the same requests are counted alike", async () => {
    const counted = async (server: Connection): Promise<Record<string, number>> => {
      const before = await metricsOf(server)
      await act(server, "counted")
      let found: Record<string, number> = {}
      // A request is counted after its answer is sent.
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
})

function shapes({ families }: Metrics, wanted: readonly (readonly [string, Family])[]): Record<string, unknown> {
  return Object.fromEntries(
    wanted.map(([name]) => {
      const found = families.get(name)
      return [name, found && { type: found.type, labels: [...found.labels].sort() }]
    }),
  )
}

/** The last request of {@link act}. */
const deleted =
  'apiserver_request_duration_seconds_count{component="apiserver",dry_run="",group="",resource="podtemplates",scope="namespace",subresource="",verb="DELETE",version="v1"}'

/** Of a kind that nothing in a control plane asks for on its own. */
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
  await send("POST", list, object) // is there already
  await send("GET", `${list}/${name}`)
  await send("GET", `${list}/absent`)
  await send("GET", list)
  await send("GET", all)
  await send("PUT", `${list}/${name}`, object)
  await send("PATCH", `${list}/${name}`, { metadata: { labels: { a: "b" } } }, "application/merge-patch+json")
  await send("PATCH", `${list}/${name}?fieldManager=x&force=true`, object, "application/apply-patch+yaml")
  await send("GET", `${list}?watch=true&timeoutSeconds=1`)
  await send("GET", "/api/v1/endpoints")
  await send("DELETE", `${list}/${name}?dryRun=All`)
  await send("DELETE", `${list}/${name}`)
  await send("DELETE", list)
}

async function metricsOf(server: Connection): Promise<Metrics> {
  const { code, body } = await server.call("GET", "/metrics")
  expect(code).toBe(200)
  const families = new Map<string, { type: string; stable: boolean; labels: Set<string> }>()
  const samples = new Map<string, number>()
  let family = { type: "", stable: false, labels: new Set<string>() }
  for (const line of body.toString().split("\n")) {
    const [, word, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (word === "HELP")
      families.set(name, (family = { type: "", stable: rest.startsWith("[STABLE]"), labels: new Set() }))
    else if (word === "TYPE") family.type = rest
    else if (line !== "") {
      const end = line.lastIndexOf(" ")
      const sample = line.slice(0, end)
      samples.set(sample, Number(line.slice(end + 1)))
      for (const [, label = ""] of sample.matchAll(/[{,](\w+)="/g)) if (label !== "le") family.labels.add(label)
    }
  }
  return { families, samples }
}

/** Of the kind that {@link act} asks for. */
function difference(before: Metrics, after: Metrics): Record<string, number> {
  const names = [...after.samples.keys()].filter(
    (sample) => sample.includes('resource="podtemplates"') && countedAlike.includes(sample.split("{")[0] ?? ""),
  )
  const changes = names.map((name) => [name, (after.samples.get(name) ?? 0) - (before.samples.get(name) ?? 0)] as const)
  return Object.fromEntries(changes.filter(([, change]) => change !== 0))
}
