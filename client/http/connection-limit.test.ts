import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { expect, test } from "vitest"
import { limitConnections } from "./connection-limit.ts"

test("a connection with a second request in progress is not replaced when the first one has ended", async () => {
  const held: ServerResponse[] = []
  const server = createServer((request, response) => {
    if (request.url === "/held") held.push(response)
    else response.end("done")
  })
  limitConnections(server, 2)
  await once(server.listen(0, "127.0.0.1"), "listening")
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  const open = async (): Promise<Socket> => {
    const socket = connect(port, "127.0.0.1")
    socket.on("error", () => undefined) // closed by the server
    sockets.push(socket)
    await once(socket, "connect")
    return socket
  }
  try {
    const busy = await open()
    const isClosed = { busy: false }
    busy.once("close", () => (isClosed.busy = true))
    busy.write("GET /short HTTP/1.1\r\nHost: a\r\n\r\nGET /held HTTP/1.1\r\nHost: a\r\n\r\n")
    await expect.poll(() => busy.read()?.toString()).toContain("done")
    await expect.poll(() => held.length).toBe(1)
    const idle = await open()
    await expect.poll(() => connectionsOf(server)).toBe(2)
    const replaced = once(idle.resume(), "close")
    await open()
    await replaced
    expect(isClosed.busy).toBe(false)
  } finally {
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    server.close()
  }
})

function connectionsOf(server: ReturnType<typeof createServer>): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  )
}
