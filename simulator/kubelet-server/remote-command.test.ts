// What clients do not test about commands through a gateway (test/e2e).

import { once } from "node:events"
import { connect, type TLSSocket } from "node:tls"
import { expect, test } from "vitest"
import { WebSocket } from "ws"
import { type ExecStreams, SimulatedContainer } from "../container/container.ts"
import { FileSystem, Volume } from "../container/file-system.ts"
import { openSpdy, received } from "./testing/spdy-client.ts"
import { startTestServer, type TestServer } from "./testing/start-server.ts"

/** Each sends a command's request, and reads nothing of the output. */
const stalled: Record<string, (server: TestServer) => Promise<() => void>> = {
  async WebSocket(server) {
    const socket: TLSSocket = connect({ host: "127.0.0.1", port: server.port, ...server.client })
    await once(socket, "secureConnect")
    socket.on("error", () => undefined) // the connection is cut off
    const lines = [
      "GET /exec/default/web/main?command=yes&output=1 HTTP/1.1",
      "Host: kubelet",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Protocol: v5.channel.k8s.io",
    ]
    socket.write(`${lines.join("\r\n")}\r\n\r\n`)
    return () => socket.destroy()
  },
  async SPDY(server) {
    const path = "/exec/default/web/main?command=yes&output=1"
    const target = { host: "127.0.0.1", port: server.port, ...server.client, agent: false as const, path }
    const client = await openSpdy(target, "v4.channel.k8s.io")
    await client.open({ streamtype: "error" })
    await client.open({ streamtype: "stdout" })
    client.stall()
    return () => client.disconnect()
  },
}

test.each(Object.entries(stalled))(
  "a connection whose client does not read is cut off, and the command with it: over %s",
  async (_protocol, start) => {
    const ended = Promise.withResolvers<number>()
    const text = "x".repeat(1024 * 1024)
    const exec = async (_: unknown, { stdout }: ExecStreams, signal: AbortSignal): Promise<number> => {
      let written = 0
      for (; !signal.aborted && written < 200; written++) {
        stdout(text)
        await new Promise((resolve) => setImmediate(resolve))
      }
      ended.resolve(written)
      return 0
    }
    await using server = await startTestServer({ find: () => ({ current: { exec } }) })
    const leave = await start(server)
    // Megabytes: the limit of unread output, and the socket buffers of both sides.
    expect(await ended.promise).toBeLessThan(100)
    leave()
  },
)

// kubectl would report that it could not attach, and print the log once more.
test("attach succeeds, whatever the exit code of the program", async () => {
  const files = new FileSystem(new Volume(), [])
  const spec = {
    name: "main",
    image: "busybox",
    command: ["sh"],
    environment: {},
    files,
    hostname: "h",
    workingDir: "/",
  }
  const current = new SimulatedContainer("id", { ...spec, ports: [], stdin: true, stdinOnce: true })
  await using server = await startTestServer({ find: () => ({ current }) })
  const url = `wss://127.0.0.1:${server.port}/attach/default/web/main?input=1&output=1`
  const socket = new WebSocket(url, ["v5.channel.k8s.io"], server.client)
  const received: Buffer[] = []
  socket.on("message", (message: Buffer) => received.push(message))
  await once(socket, "open")
  socket.send(Buffer.from("\0exit 3\n"))
  socket.send(Buffer.of(255, 0))
  await once(socket, "close")
  expect(await current.ended).toBe(3)
  const status =
    received
      .find(([channel]) => channel === 3)
      ?.subarray(1)
      .toString() ?? ""
  expect(JSON.parse(status)).toMatchObject({ status: "Success" })
})

test("over SPDY, a command has any amount of input and output, and its outcome comes last", async () => {
  const MiB = 1024 * 1024
  const exec = async (_: unknown, { input, stdout, stderr }: ExecStreams, signal: AbortSignal): Promise<number> => {
    const text = (await input?.all(signal)) ?? ""
    stdout(text)
    stderr(text)
    return 7
  }
  await using server = await startTestServer({ find: () => ({ current: { exec } }) })
  const path = "/exec/default/web/main?command=x&input=1&output=1&error=1"
  const target = { host: "127.0.0.1", port: server.port, ...server.client, agent: false as const, path }
  const { open } = await openSpdy(target, "v4.channel.k8s.io")
  const outputs = [await open({ streamtype: "stdout" }), await open({ streamtype: "stderr" })]
  const stdin = await open({ streamtype: "stdin" })
  const error = await open({ streamtype: "error" })
  stdin.end("x".repeat(3 * MiB))
  const [out, err, status] = await Promise.all([...outputs, error].map(received))
  expect([out?.length, err?.length]).toEqual([3 * MiB, 3 * MiB])
  expect(JSON.parse(String(status))).toMatchObject({ details: { causes: [{ message: "7" }] } })
})

// kubectl reads no output before, and beyond 50 frames of it not even the answers.
test("over SPDY, a command says nothing before the client has been told that all its streams are open", async () => {
  const exec = async (_: unknown, { stdout }: ExecStreams): Promise<number> => {
    for (let line = 0; line < 100; line++) stdout("x".repeat(16 * 1024))
    return Promise.resolve(0)
  }
  await using server = await startTestServer({ find: () => ({ current: { exec } }) })
  const path = "/exec/default/web/main?command=x&output=1&error=1"
  const target = { host: "127.0.0.1", port: server.port, ...server.client, agent: false as const, path }
  const { open } = await openSpdy(target, "v4.channel.k8s.io")
  const seen: string[] = []
  const streams = []
  for (const streamtype of ["error", "stdout", "stderr"]) {
    const stream = await open({ streamtype })
    stream.once("response", () => seen.push("answer")).once("data", () => seen.push(streamtype))
    streams.push(stream)
  }
  await Promise.all(streams.map(received))
  expect(seen).toEqual(["answer", "answer", "answer", expect.any(String), expect.any(String)])
})
