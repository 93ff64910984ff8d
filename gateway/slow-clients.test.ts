// Clients that ask for much and do not read it: what the gateway holds for them is limited, and others are served.

import { once } from "node:events"
import type { TLSSocket } from "node:tls"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import type { ConfigMap, KubeObject } from "../apimachinery/object.ts"
import { collectGarbage } from "../apimachinery/testing/garbage.ts"
import { configMaps, controllerRevisions } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import { EventBuffer } from "../storage/watch/event-buffer.ts"
import { askRaw } from "./testing/raw-request.ts"
import { startTestGateway, type TestGateway, type TestTenant } from "./testing/start-gateway.ts"

const MiB = 1024 * 1024
const objects = 16
const clients = 60

let fixture: TestGateway
let greedy: TestTenant
let api: KubeClient
/** Before the objects were created. */
let oldest = ""
/** What is held while nobody asks. */
let atRest = 0

const text = (name: string, letter: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name },
  data: { text: letter.repeat(1_000_000) },
})

beforeAll(async () => {
  fixture = await startTestGateway({ superCluster: false, limits: { requestTimeoutMs: 5_000 } })
  greedy = await fixture.createTenant("greedy", { controllers: false })
  api = fixture.gateway.tenants.client("greedy")
  oldest = (await api.list(configMaps)).metadata.resourceVersion ?? ""
  for (let index = 0; index < objects; index++) await api.create(configMaps, text(`c${index}`, "x"))
  collectGarbage()
  atRest = held()
})

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
})

function ask(path: string, headers = ""): Promise<TLSSocket> {
  return askOf(fixture, greedy, path, headers)
}

function askOf(of: TestGateway, tenant: TestTenant, path: string, headers = ""): Promise<TLSSocket> {
  return askRaw(of, tenant, path.startsWith("/") ? path : `/api/v1/${path}`, headers)
}

const held = (): number => process.memoryUsage().arrayBuffers

/** Garbage, which is collected late beside other processes, counts only below `most`. */
function heldByClients(most = 0): number {
  // What one collection has found, it may still be freeing beside the program when it returns; the next one waits for that.
  for (let times = 0; times < 2 && held() - atRest > most; times++) collectGarbage()
  return held() - atRest
}

/** Until the test ends. Returns a function that tells how many values that an object of this name is given from now on somebody holds. */
function heldChanges(name: string): () => number {
  const publish = Reflect.get(EventBuffer.prototype, "publish") as EventBuffer["publish"]
  const values: WeakRef<Uint8Array>[] = []
  EventBuffer.prototype.publish = function (this: EventBuffer, events, revision) {
    for (const { current } of events) if (current.key.endsWith(`/${name}`)) values.push(new WeakRef(current.value))
    return publish.call(this, events, revision)
  }
  onTestFinished(() => void (EventBuffer.prototype.publish = publish))
  return () => {
    collectGarbage()
    return values.filter((value) => value.deref() !== undefined).length
  }
}

// A quarter more than they hold in the end, however slowly they come. Of lists 8 hold a piece, of watches 16 do (request/large-places.ts).
// Without these limits the first holds 119 MiB, and watches 240 to 290.
describe.each([
  ["configmaps", 80],
  ["configmaps?watch=true", 110],
  ["configmaps?pretty=true&limit=500", 160],
  ["configmaps?watch=true&resourceVersion=OLDEST", 220],
  ["configmaps?watch=true&fieldSelector=metadata.name%3Dc0", 100],
])("of %s", (path, mebibytes) => {
  test("hold little, and another tenant is served", async () => {
    // What the clients before had.
    await expect.poll(() => heldByClients()).toBeLessThan(8 * MiB)
    const maxHeld = mebibytes * MiB
    const other = await fixture.createTenant(`other-${path.length}`, { controllers: false })
    const sockets: TLSSocket[] = []
    let most = 0
    for (let index = 0; index < clients; index++) {
      sockets.push(await ask(path.replace("OLDEST", oldest)))
      most = Math.max(most, heldByClients(maxHeld))
    }
    const version = `/tenants/${other.tenant.name}/api/v1/namespaces`
    for (let round = 0; round < 10; round++) {
      expect((await fixture.request(version, other)).code).toBe(200)
      most = Math.max(most, heldByClients(maxHeld))
    }
    expect(most).toBeLessThan(maxHeld)
  })
})

test("a client that does not take its answer is disconnected when the request's time is over", async () => {
  await using own = await startTestGateway({ superCluster: false, limits: { requestTimeoutMs: 3_000 } })
  const tenant = await own.createTenant("slow", { controllers: false })
  const client = own.gateway.tenants.client("slow")
  for (let index = 0; index < objects; index++) await client.create(configMaps, text(`c${index}`, "x"))
  const socket = await askOf(own, tenant, "configmaps?pretty=true")
  // The answer has begun, and is read no further.
  await once(socket, "readable")
  const isEnded = async (): Promise<boolean> =>
    (await own.request("/tenants/slow/metrics", tenant)).text.includes("apiserver_request_terminations_total{")
  await expect.poll(isEnded, { timeout: 10_000 }).toBe(true)
  let [answer, bytes] = ["", 0]
  socket.on("data", (chunk: Buffer) => {
    answer ||= chunk.toString("latin1", 0, 15)
    bytes += chunk.length
  })
  await once(socket, "close")
  expect(answer).toBe("HTTP/1.1 200 OK")
  expect(bytes).toBeLessThan(objects * 1_000_000)
})

test("watches that are not read hold few events in forms of their own", async () => {
  const accept = "accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n"
  const path = "/apis/apps/v1/controllerrevisions?watch=true&includeObject=Object"
  const sockets: TLSSocket[] = []
  for (let index = 0; index < clients; index++) sockets.push(await ask(path, accept))
  collectGarbage()
  const before = held()
  const bytes = 2_900_000
  // The buffers of the connections take no more than the first.
  for (let revision = 1; revision <= 2; revision++)
    await api.create(controllerRevisions, {
      apiVersion: "apps/v1",
      kind: "ControllerRevision",
      metadata: { namespace: "default", name: `shown-${revision}` },
      revision,
      data: { text: "x".repeat(bytes) },
    } as KubeObject)
  // Until all wait for their clients.
  for (let was = 0; Math.abs(held() - was) > MiB;) {
    collectGarbage()
    was = held()
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  collectGarbage()
  expect(held() - before).toBeLessThan(sockets.length * bytes)
  // All get them in the end.
  let waiting = sockets.length
  for (const socket of sockets) {
    let taken = 0
    socket.on("data", (piece: Buffer) => {
      if (taken < 2 * bytes && taken + piece.length >= 2 * bytes) waiting--
      taken += piece.length
    })
  }
  await expect.poll(() => waiting, { timeout: 60_000 }).toBe(0)
})

test("a watch that is not read holds no changes beyond its limit, and gets all of them when it is read", async () => {
  await api.create(configMaps, text("changed", "a"))
  const { metadata } = await api.get<ConfigMap>(configMaps, "default", "changed")
  const socket = await ask(`configmaps?watch=true&resourceVersion=${metadata.resourceVersion}`)
  const changes = heldChanges("changed")
  const letters = "bcdefghijklmnopqrstuvwxyz".repeat(2)
  for (const letter of letters)
    await api.patch(configMaps, "default", "changed", { data: { text: letter.repeat(1_000_000) } }, { type: "merge" })
  // Without the limit, half of them. All of the process's memory also has what other tests have left.
  expect(changes()).toBeLessThan(15)
  let seen = ""
  socket.setEncoding("latin1")
  socket.on("data", (piece: string) => (seen += (piece.match(/"text":"./g) ?? []).join("")))
  await expect
    .poll(() => seen.replaceAll('"text":"', "").length, { timeout: 20_000 })
    .toBeGreaterThan(letters.length - 10)
})

test("beyond the limit of all watches together, those that are not read are disconnected, and the others get all changes", async () => {
  await using small = await startTestGateway({ superCluster: false, limits: { maxUnreadWatchBytes: MiB } })
  const tenant = await small.createTenant("small", { controllers: false })
  const client = small.gateway.tenants.client("small")
  const change = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "changed" } } as const
  await client.create<ConfigMap>(configMaps, { ...change, data: { text: "0 " } })
  const path = "configmaps?watch=true&fieldSelector=metadata.name%3Dchanged&resourceVersion=0"
  const unread = await Promise.all(Array.from({ length: 40 }, () => askOf(small, tenant, path)))
  const read = await askOf(small, tenant, path)
  let seen = ""
  read.setEncoding("latin1").on("data", (piece: string) => (seen += piece))
  const watching = async (): Promise<number> => {
    const { text: metrics } = await small.request("/tenants/small/metrics", tenant)
    return Number(/^apiserver_longrunning_requests\{.*resource="configmaps".*\} (\d+)$/m.exec(metrics)?.[1])
  }
  await expect.poll(watching).toBe(unread.length + 1)
  // The buffers of the connections take the first changes.
  let last = 0
  while (last < 300 && (await watching()) === unread.length + 1) {
    const data = { text: `${++last} `.padEnd(50_000) }
    await client.patch(configMaps, "default", "changed", { data }, { type: "merge" })
  }
  const left = await watching()
  expect(left).toBeLessThanOrEqual(unread.length)
  expect(left).toBeGreaterThan(10)
  const all = Array.from({ length: last + 1 }, (_, index) => String(index))
  await expect.poll(() => Array.from(seen.matchAll(/"text":"(\d+) /g), ([, number]) => number)).toEqual(all)
  for (const socket of unread) socket.destroy()
})
