import { once } from "node:events"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, test } from "vitest"
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
