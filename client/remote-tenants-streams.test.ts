// How broken streams are handled, with a server whose responses the test determines.

import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, test } from "vitest"
import { connectTenants } from "./remote-tenants.ts"
import { configMaps } from "./resources.ts"
import type { Tenants } from "./tenants.ts"

/** Open streams, the latest last. */
interface Opened {
  tenants: ServerResponse[]
  watch: ServerResponse[]
}

async function begin(stack: AsyncDisposableStack): Promise<{ opened: Opened; calls: string[]; remote: Tenants }> {
  const opened: Opened = { tenants: [], watch: [] }
  const server = createServer((request, response) => {
    response.writeHead(200).flushHeaders()
    const which = request.url?.startsWith("/polyplane/v1/tenants") === true ? "tenants" : "watch"
    opened[which].push(response)
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
  opened.watch[0]?.write(synced("a"))
  await expect.poll(() => calls).toEqual(["a synced"])
  // The next stream begins before the server has reported the state of the tenant.
  opened.watch[0]?.destroy()
  await expect.poll(() => calls).toEqual(["a synced", "a restarted"])
  calls.length = 0
  return { opened, calls, remote }
}

const synced = (tenant: string): string => `{"type":"SYNCED","tenant":"${tenant}"}\n`
const removed = `{"type":"REMOVED","tenant":{"name":"a","uid":"1"}}\n`

test("a tenant that is deleted while its stream is broken is reported once", async () => {
  await using stack = new AsyncDisposableStack()
  const { opened, calls } = await begin(stack)
  opened.tenants[0]?.write(removed)
  await expect.poll(() => calls).toEqual(["a removed"])
  opened.watch[1]?.write(`{"type":"REMOVED","tenant":"a"}\n${synced("b")}`)
  await expect.poll(() => calls).toEqual(["a removed", "b synced"])
})

test("a tenant recreated under the same name is not reported as deleted if the new stream delivers it first", async () => {
  await using stack = new AsyncDisposableStack()
  const { opened, calls, remote } = await begin(stack)
  opened.watch[1]?.write(synced("a"))
  await expect.poll(() => calls).toEqual(["a synced"])
  opened.tenants[0]?.write(`${removed}{"type":"ADDED","tenant":{"name":"a","uid":"2"}}\n`)
  await expect.poll(() => remote.get("a")?.uid).toBe("2")
  opened.watch[1]?.write(synced("b"))
  await expect.poll(() => calls).toEqual(["a synced", "b synced"])
})
