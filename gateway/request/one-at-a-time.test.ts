import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest"
import { oneAtATime } from "./one-at-a-time.ts"

let begun: { url: string | undefined; response: ServerResponse }[]
const server = createServer(
  oneAtATime((request, response) => {
    begun.push({ url: request.url, response })
  }),
)

beforeEach(async () => {
  begun = []
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

async function send(...urls: string[]): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1")
  onTestFinished(() => void socket.destroy())
  await once(socket, "connect")
  socket.write(urls.map((url) => `GET ${url} HTTP/1.1\r\nhost: a\r\n\r\n`).join(""))
  return socket
}

test("what a connection sends ahead begins when what came before is answered", async () => {
  const socket = await send("/1", "/2", "/3")
  let text = ""
  socket.on("data", (piece: Buffer) => (text += piece.toString()))
  for (let count = 1; count <= 3; count++) {
    await expect.poll(() => begun.length).toBe(count)
    begun.at(-1)?.response.end(`answer ${count}`)
  }
  await expect.poll(() => text.match(/answer \d/g)).toEqual(["answer 1", "answer 2", "answer 3"])
  expect(begun.map(({ url }) => url)).toEqual(["/1", "/2", "/3"])
})

test("connections do not wait for each other, nor a later request for one long answered", async () => {
  const first = await send("/1")
  await send("/2")
  await expect.poll(() => begun.length).toBe(2)
  begun.find(({ url }) => url === "/1")?.response.end()
  await once(first, "data")
  first.write("GET /3 HTTP/1.1\r\nhost: a\r\n\r\n")
  await expect.poll(() => begun.at(-1)?.url).toBe("/3")
})

test("a connection that sends very many ahead ends, and none of them begins", async () => {
  const socket = await send(...Array.from({ length: 100 }, (_, index) => `/${index}`))
  socket.on("error", () => undefined) // reset
  await once(socket, "close")
  expect(begun.map(({ url }) => url)).toEqual(["/0"])
})
