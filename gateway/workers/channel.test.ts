import { fork, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { Channel } from "./channel.ts"

const channel = fileURLToPath(new URL("channel.ts", import.meta.url))
/** Sends "taken" on every received connection and closes it. */
const program = `
  import { Channel } from ${JSON.stringify(channel)}
  new Channel(process, { ready: () => undefined }, (socket) => socket.end("taken"))
`

interface Started {
  child: ChildProcess
  channel: Channel<{ ready: [undefined, undefined] }, Record<never, never>>
  /** Opens a connection and sends it to the program; resolves with the client's end. */
  connect: () => Promise<Socket>
}

async function start(): Promise<Started> {
  const folder = await mkdtemp(path.join(tmpdir(), "polyplane-channel-"))
  await writeFile(path.join(folder, "program.ts"), program)
  const child = fork(path.join(folder, "program.ts"))
  const other = new Channel<{ ready: [undefined, undefined] }, Record<never, never>>(child, {})
  const server = createServer({ pauseOnConnect: true }, (socket) => other.hand(socket))
  server.listen(0, "127.0.0.1")
  await Promise.all([other.call("ready", undefined), once(server, "listening")])
  onTestFinished(async () => {
    server.close()
    child.kill("SIGKILL")
    await rm(folder, { recursive: true })
  })
  return {
    child,
    channel: other,
    connect: async () => {
      const accepted = once(server, "connection")
      const client = connect((server.address() as AddressInfo).port, "127.0.0.1")
      client.on("error", () => undefined) // it is closed in either case
      await Promise.all([once(client, "connect"), accepted])
      return client
    },
  }
}

test("connections are passed to the other process", async () => {
  const { connect } = await start()
  for (let count = 0; count < 3; count++) expect(await text(await connect())).toBe("taken")
})

test("connections that the other process has not accepted are closed when it ends", async () => {
  const { child, connect } = await start()
  child.kill("SIGSTOP")
  const clients = [await connect(), await connect(), await connect()]
  const closed = clients.map((client) => once(client.resume(), "close"))
  child.kill("SIGKILL")
  await Promise.all(closed)
  expect(clients.map(({ bytesRead }) => bytesRead)).toEqual([0, 0, 0])
})
