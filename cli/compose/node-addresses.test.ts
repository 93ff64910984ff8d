import { once } from "node:events"
import { request as httpsRequest } from "node:https"
import { createServer, type AddressInfo } from "node:net"
import { expect, onTestFinished, test } from "vitest"
import { tcpKeepAlive } from "../../client/http/tcp-keep-alive.ts"
import { areProbed } from "../../client/testing/probed-connections.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { openPodTunnel } from "../../gateway/backends/pod-tunnel.ts"
import { NodeAddresses } from "./node-addresses.ts"

test("a node is looked up once for all calls of some seconds, also for those that come at once", async () => {
  const clock = new FakeClock()
  const asked: string[] = []
  const addresses = new NodeAddresses((name) => Promise.resolve(`${name}-${asked.push(name)}`), clock)
  const all = await Promise.all(["a", "a", "b"].map((name) => addresses.of(name)))
  expect(all.map((one) => one?.address)).toEqual(["a-1", "a-1", "b-2"])
  clock.advance(9_999)
  expect((await addresses.of("a"))?.address).toBe("a-1")
  clock.advance(1)
  expect((await addresses.of("a"))?.address).toBe("a-3")
  expect((await addresses.of("b"))?.address).toBe("b-4")
})

test("neither a node that is missing nor a failure is remembered", async () => {
  const answers = [() => undefined, () => Promise.reject(new Error("unavailable")), () => "there"]
  const addresses = new NodeAddresses(async () => answers.shift()?.(), new FakeClock())
  expect(await addresses.of("a")).toBeUndefined()
  await expect(addresses.of("a")).rejects.toThrow("unavailable")
  expect((await addresses.of("a"))?.address).toBe("there")
})

test.each([
  ["a request", (options: object) => once(httpsRequest(options).end(), "response")],
  ["a tunnel", (options: object) => openPodTunnel({ ...options, path: "/" }, new AbortController().signal)],
])("%s that gets no connection lets its node be looked up again", async (_what, call) => {
  const server = createServer((socket) => socket.destroy())
  onTestFinished(() => void server.close())
  await once(server.listen(0, "127.0.0.1"), "listening")
  let asked = 0
  const ask = () => (asked++, Promise.resolve("127.0.0.1"))
  const addresses = new NodeAddresses(ask, new FakeClock())
  const { address: host, agent } = (await addresses.of("a")) ?? {}
  const { port } = server.address() as AddressInfo
  await expect(call({ host, port, agent })).rejects.toThrow()
  await addresses.of("a")
  expect(asked).toBe(2)
})

test.runIf(process.platform === "linux")("connections are probed that are to be", async () => {
  const accepted = Promise.withResolvers<number>()
  const server = createServer((socket) => accepted.resolve(socket.remotePort ?? 0))
  onTestFinished(() => void server.close())
  await once(server.listen(0, "127.0.0.1"), "listening")
  const addresses = new NodeAddresses(() => Promise.resolve("127.0.0.1"), new FakeClock())
  const { address: host, agent } = (await addresses.of("a")) ?? {}
  const { port } = server.address() as AddressInfo
  const request = httpsRequest({ ...tcpKeepAlive, host, port, agent }).on("error", () => undefined)
  request.end()
  await expect.poll(async () => areProbed(await accepted.promise)).toEqual([true])
  request.destroy()
})
