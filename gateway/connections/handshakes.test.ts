import { EventEmitter } from "node:events"
import type { Server } from "node:https"
import type { Socket } from "node:net"
import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, test, vi } from "vitest"
import { workedMs } from "../../apimachinery/thread-time.ts"
import { limitHandshakes } from "./handshakes.ts"

const never = 2 ** 30

function startServer(limits: { maxUnderWay: number; patienceMs: number; silenceMs?: number }) {
  const server = Object.assign(new EventEmitter(), { close: vi.fn<() => void>() })
  const begun: Socket[] = []
  server.on("connection", (socket: Socket) => begun.push(socket))
  const line = limitHandshakes(server as unknown as Server, limits)
  return { server, begun, line }
}

function socketOf(remotePort: number, remoteAddress = "192.0.2.1", bytesRead = 500): Socket {
  return Object.assign(new EventEmitter(), { remoteAddress, remotePort, bytesRead, _handle: null }) as unknown as Socket
}

/** Waits for more turns of the event loop than any operation here needs. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn()
}

test("handshakes above the limit start in order when others end", async () => {
  const { server, begun } = startServer({ maxUnderWay: 3, patienceMs: never })
  const sockets = Array.from({ length: 8 }, (_, port) => socketOf(port))
  for (const socket of sockets) server.emit("connection", socket)
  await settle()
  expect(begun).toEqual(sockets.slice(0, 3))
  server.emit("secureConnection", { remoteAddress: "192.0.2.1", remotePort: 1 })
  await settle()
  expect(begun).toEqual(sockets.slice(0, 4))
  sockets[4]?.emit("close") // before its turn
  sockets[1]?.emit("close") // done before: its place is not freed a second time
  await settle()
  expect(begun).toHaveLength(4)
  for (const index of [0, 2, 3]) sockets[index]?.emit("close")
  await settle()
  expect(begun).toEqual(sockets.filter((_, index) => index !== 4))
})

test("one handshake starts per turn of the event loop", async () => {
  const { server, begun } = startServer({ maxUnderWay: 8, patienceMs: never })
  for (let port = 0; port < 8; port++) server.emit("connection", socketOf(port))
  expect(begun).toHaveLength(0)
  for (let count = 1; count <= 8; count++) {
    await nextTurn()
    expect(begun).toHaveLength(count)
  }
})

test("connections of other addresses are served before the queue of one address", async () => {
  const { server, begun } = startServer({ maxUnderWay: 1, patienceMs: never })
  const crowd = Array.from({ length: 50 }, (_, port) => socketOf(port))
  for (const socket of crowd) server.emit("connection", socket)
  await settle()
  const others = [socketOf(1, "192.0.2.2"), socketOf(2, "192.0.2.2"), socketOf(1, "192.0.2.3")]
  for (const socket of others) server.emit("connection", socket)
  others[0]?.emit("close") // before its turn
  for (let count = 1; count <= 5; count++) {
    begun.at(-1)?.emit("close")
    await settle()
  }
  expect(begun).toEqual([...crowd.slice(0, 2), ...others.slice(1), ...crowd.slice(2, 4)])
})

test("slow handshakes do not count", async () => {
  const { server, begun } = startServer({ maxUnderWay: 2, patienceMs: 1 })
  for (let port = 0; port < 20; port++) server.emit("connection", socketOf(port))
  await expect.poll(() => begun.length).toBe(20)
})

test("the addresses of one network of IPv6 have one queue", async () => {
  const { server, begun } = startServer({ maxUnderWay: 1, patienceMs: never })
  const crowd = Array.from({ length: 5 }, (_, host) => socketOf(host, `2001:db8::${host + 1}`))
  const other = socketOf(1, "2001:db8:1::1")
  for (const socket of [...crowd, other]) server.emit("connection", socket)
  for (let count = 1; count <= 3; count++) {
    await settle()
    begun.at(-1)?.emit("close")
  }
  await settle()
  expect(begun).toEqual([crowd[0], other, crowd[1], crowd[2]])
})

test("its line says whether connections of a network wait, and when they no longer do", async () => {
  const { server, line } = startServer({ maxUnderWay: 2, patienceMs: never })
  const emptied: string[] = []
  line.whenEmpty((network) => emptied.push(network))
  const sockets = [socketOf(1), socketOf(2), socketOf(3, "192.0.2.2"), socketOf(4, "192.0.2.2")]
  for (const socket of sockets) server.emit("connection", socket)
  await settle()
  // One of each has begun.
  expect(["192.0.2.1", "192.0.2.2", "192.0.2.3"].map((network) => line.isWaiting(network))).toEqual([true, true, false])
  expect(emptied).toEqual([])
  sockets[0]?.emit("close")
  await settle()
  expect(emptied).toEqual(["192.0.2.1"])
  sockets[3]?.emit("close") // before its turn
  expect(emptied).toEqual(["192.0.2.1", "192.0.2.2"])
  expect(line.isWaiting("192.0.2.2")).toBe(false)
})

test("connections that send nothing do not count for long", async () => {
  const { server, begun } = startServer({ maxUnderWay: 2, patienceMs: never, silenceMs: 1 })
  const sockets = Array.from({ length: 20 }, (_, port) => socketOf(port, "192.0.2.1", port < 8 || port > 10 ? 0 : 500))
  for (const socket of sockets) server.emit("connection", socket)
  await expect.poll(() => begun.length).toBe(10) // two that have sent something
  await settle()
  expect(begun).toEqual(sockets.slice(0, 10))
})

test("a network also rests if all that its handshake has sent was there when it began", async () => {
  const { server, begun } = startServer({ maxUnderWay: 1, patienceMs: never })
  const dear = socketOf(1, "192.0.2.1", 20_000)
  server.emit("connection", dear)
  await settle()
  for (const before = workedMs(); workedMs() < before + 60;);
  server.emit("secureConnection", dear)
  server.emit("connection", socketOf(2))
  await settle()
  expect(begun).toEqual([dear])
})

test("connections of a network wait while it rests after a handshake that has held the thread", async () => {
  const { server, begun } = startServer({ maxUnderWay: 2, patienceMs: never })
  const dear = Object.assign(socketOf(1, "2001:db8::1"), { bytesRead: 0 })
  server.emit("connection", dear)
  await settle()
  for (const before = workedMs(); workedMs() < before + 60;);
  dear.bytesRead = 20_000
  server.emit("secureConnection", dear)
  const [same, other] = [socketOf(2, "2001:db8::2"), socketOf(3, "2001:db8:1::2")]
  for (const socket of [same, other]) server.emit("connection", socket)
  await settle()
  expect(begun).toEqual([dear, other])
  await expect.poll(() => begun).toEqual([dear, other, same])
  // From now on one of this network is under way at a time.
  other.emit("close")
  const [next, another] = [socketOf(4, "2001:db8::3"), socketOf(5, "2001:db8:1::3")]
  for (const socket of [next, another]) server.emit("connection", socket)
  await settle()
  expect(begun).toEqual([dear, other, same, another])
  same.emit("close")
  await settle()
  expect(begun.at(-1)).toBe(next)
})

test("a server that is closed waits for no handshake", async () => {
  const { server, begun } = startServer({ maxUnderWay: 2, patienceMs: 1 })
  const silent = socketOf(1, "192.0.2.1", 0)
  server.emit("connection", silent)
  await expect.poll(() => begun).toEqual([silent])
  const sockets = Array.from({ length: 4 }, (_, port) => socketOf(port + 2))
  for (const socket of sockets) server.emit("connection", socket)
  const destroyed: Socket[] = []
  for (const socket of [silent, ...sockets]) Object.assign(socket, { destroy: () => destroyed.push(socket) })
  server.close()
  expect(new Set(destroyed)).toEqual(new Set([silent, ...sockets]))
  expect(destroyed).toHaveLength(5)
})
