// How broken streams are handled, with a server whose responses the test determines.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, test } from "vitest"
import { connectTenants } from "./remote-tenants.ts"
import { configMaps } from "./resources.ts"
import { type TenantAdmin, tenantUIDHeader, tenantUseHeader } from "./tenants.ts"

/** Open streams, the latest last. */
interface Opened {
  tenants: ServerResponse[]
  watch: ServerResponse[]
  wakes: { request: IncomingMessage; response: ServerResponse }[]
  /** Further watches are not answered. */
  isHeld: boolean
}

async function begin(stack: AsyncDisposableStack): Promise<{ opened: Opened; calls: string[]; remote: TenantAdmin }> {
  const opened: Opened = { tenants: [], watch: [], wakes: [], isHeld: false }
  const server = createServer((request, response) => {
    if (request.url?.endsWith("/wake") === true) return void opened.wakes.push({ request, response })
    if (request.method === "DELETE") return response.writeHead(404).end()
    if (request.url?.startsWith("/tenants/") === true)
      return response.writeHead(200).end(JSON.stringify({ meant: request.headers[tenantUIDHeader] }))
    const which = request.url?.startsWith("/polyplane/v1/tenants") === true ? "tenants" : "watch"
    opened[which].push(response)
    if (which === "watch" && opened.isHeld) return
    response.writeHead(200).flushHeaders()
    if (which === "tenants") response.write(`{"type":"ADDED","tenant":{"name":"a","uid":"1"}}\n{"type":"SYNCED"}\n`)
  })
  stack.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const remote = stack.use(await connectTenants({ server: `http://127.0.0.1:${port}` }))
  const calls: string[] = []
  const record = (what: string) => (tenant: string) => void calls.push(`${tenant} ${what}`)
  const handler = { synced: record("synced"), removed: record("removed"), restarted: record("restarted") }
  remote.watch(configMaps, { ...handler, event: () => undefined }, new AbortController().signal)
  await expect.poll(() => opened.watch.length).toBe(1)
  opened.watch[0]?.write(synced("a", "1"))
  await expect.poll(() => calls).toEqual(["a synced"])
  return { opened, calls, remote }
}

test("a client says which tenant it is for: the gateway may have another one of its name already", async () => {
  await using stack = new AsyncDisposableStack()
  const { opened, calls, remote } = await begin(stack)
  const client = remote.client("a")
  expect(await client.raw("/version")).toEqual({ meant: "1" })
  opened.tenants[0]?.write(removed + another)
  await expect.poll(() => calls).toContain("a removed")
  expect(await remote.client("a").raw("/version")).toEqual({ meant: "2" })
  expect(await remote.client({ name: "a", uid: "1" }).raw("/version")).toEqual({ meant: "1" })
  expect(await remote.client("b").raw("/version")).toEqual({})
})

test("a gateway that does not know how to delete a tenant by its owner has not deleted it", async () => {
  await using stack = new AsyncDisposableStack()
  const { remote } = await begin(stack)
  const deleting = remote.delete({ name: "a", owner: { namespace: "default", uid: "1" } })
  await expect(deleting).rejects.toMatchObject({ code: 503, reason: "ServiceUnavailable" })
  expect(remote.get("a")).toBeDefined()
})

test("a tenant is woken once at a time, and for a use although it is being woken for none", async () => {
  await using stack = new AsyncDisposableStack()
  const { opened, remote } = await begin(stack)
  for (const isUse of [false, false, true, true, false]) remote.wake("a", { isUse })
  await expect.poll(() => opened.wakes.length).toBe(2)
  const uses = (): unknown[] => opened.wakes.map(({ request }) => request.headers[tenantUseHeader])
  expect(uses()).toEqual(["none", undefined])
  for (const { response } of opened.wakes) response.writeHead(200).end("{}")
  await expect
    .poll(() => {
      remote.wake("a", { isUse: false })
      return opened.wakes.length
    })
    .toBe(3)
  expect(uses()).toEqual(["none", undefined, "none"])
})

/** The next stream is there, and has delivered nothing. */
async function beginAgain(stack: AsyncDisposableStack): ReturnType<typeof begin> {
  const { opened, calls, remote } = await begin(stack)
  // The next stream begins before the server has reported the state of the tenant.
  opened.watch[0]?.destroy()
  await expect.poll(() => calls).toEqual(["a synced", "a restarted"])
  calls.length = 0
  return { opened, calls, remote }
}

const synced = (tenant: string, uid?: string): string => `${JSON.stringify({ type: "SYNCED", tenant, uid })}\n`
const removed = `{"type":"REMOVED","tenant":{"name":"a","uid":"1"}}\n`
const another = `{"type":"ADDED","tenant":{"name":"a","uid":"2"}}\n`

test("a tenant that is deleted while its stream is broken is reported once", async () => {
  await using stack = new AsyncDisposableStack()
  const { opened, calls } = await beginAgain(stack)
  opened.tenants[0]?.write(removed)
  await expect.poll(() => calls).toEqual(["a removed"])
  opened.watch[1]?.write(`{"type":"REMOVED","tenant":"a"}\n${synced("b")}`)
  await expect.poll(() => calls).toEqual(["a removed", "b synced"])
})

test("a tenant recreated under the same name is not reported as deleted if the new stream delivers it first", async () => {
  await using stack = new AsyncDisposableStack()
  const { opened, calls, remote } = await beginAgain(stack)
  opened.watch[1]?.write(synced("a", "2") + synced("b"))
  // Nobody knows this one yet.
  await expect.poll(() => calls).toEqual(["b synced"])
  opened.tenants[0]?.write(removed + another)
  await expect.poll(() => remote.get("a")?.uid).toBe("2")
  opened.watch[1]?.write(synced("b"))
  await expect.poll(() => calls).toEqual(["b synced", "a synced", "b synced"])
})

test.each([
  ["that is broken", true],
  ["that is behind", false],
])(
  "objects of a tenant that is deleted are not taken for those of the next one of its name, by a stream %s",
  async (_what, isBroken) => {
    await using stack = new AsyncDisposableStack()
    const { opened, calls, remote } = await begin(stack)
    if (isBroken) {
      opened.isHeld = true
      opened.watch[0]?.destroy()
      await expect.poll(() => opened.watch.length).toBe(2)
    }
    calls.length = 0
    opened.tenants[0]?.write(removed + another)
    await expect.poll(() => remote.get("a")?.uid).toBe("2")
    expect(calls).toEqual(["a removed"])
    calls.length = 0
    const [watch] = opened.watch.slice(-1)
    if (isBroken) watch?.writeHead(200)
    else watch?.write(`${synced("a", "1")}{"type":"REMOVED","tenant":"a"}\n`)
    watch?.write(synced("b") + synced("a", "2"))
    await expect.poll(() => calls.slice(-2)).toEqual(["b synced", "a synced"])
    expect(calls.filter((call) => call === "a synced")).toHaveLength(1)
  },
)
