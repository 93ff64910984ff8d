import { once } from "node:events"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, test } from "vitest"
import { smallPieces } from "../../client/testing/small-pieces.ts"
import { answerTo } from "./answer-to.ts"

test("a server that switches protocols without being asked has not answered", async () => {
  const server = createServer((_, response) => {
    response.writeHead(101, { connection: "Upgrade", upgrade: "other" }).flushHeaders()
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const { port } = server.address() as AddressInfo
  const asked = request({ host: "127.0.0.1", port }).end()
  await expect(answerTo(asked)).rejects.toThrow("the server responded with the status code 101")
  server.closeAllConnections()
  server.close()
})

test("of an answer in small chunks that waits only the bytes are held", async () => {
  const server = createServer((_, response) => response.flushHeaders())
  await once(server.listen(0, "127.0.0.1"), "listening")
  const { port } = server.address() as AddressInfo
  const answer = await answerTo(request({ host: "127.0.0.1", port }).end())
  const chunks = smallPieces()
  for (let index = 0; index < 1000; index++) answer.push(chunks.next())
  await expect.poll(() => chunks.held()).toBeLessThan(10)
  expect(answer.read()).toEqual(Buffer.from(Array.from({ length: 1000 }, (_, index) => index & 255)))
  answer.destroy()
  server.close()
})
