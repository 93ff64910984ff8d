import { once } from "node:events"
import { buffer } from "node:stream/consumers"
import { connect } from "node:tls"
import { Worker } from "node:worker_threads"
import { expect, test } from "vitest"
import { configMaps } from "../client/resources.ts"
import { startTestGateway } from "./testing/start-gateway.ts"
import type { Updating } from "./testing/updating-client.ts"

const connections = 8
const updates = 25

// The second length is nearly the longest that is sent at once.
test.for([200_000, 48_000])(
  "a connection survives requests of %d bytes after responses of this length",
  async (length) => {
    await using fixture = await startTestGateway()
    const { certificate = "", key = "", url } = await fixture.createTenant("t")
    const client = fixture.client("/tenants/t", { certificate, key })
    const objects = Array.from({ length: connections }, (_, index) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `c${index}`, namespace: "default" },
      data: { text: "x".repeat(length) },
    }))
    for (const object of objects) await client.create(configMaps, object)
    const { hostname, port, pathname } = new URL(url)
    const workerData: Updating = {
      connection: { hostname, port, cert: certificate, key, ca: fixture.gateway.certificateAuthority },
      paths: objects.map(({ metadata }) => `${pathname}/api/v1/namespaces/default/configmaps/${metadata.name}`),
      bodies: objects.map((object) => JSON.stringify(object)),
      updates,
    }
    const worker = new Worker(new URL("testing/updating-client.ts", import.meta.url), { workerData })
    const [failures] = (await once(worker, "message")) as [string[]]
    expect(failures).toEqual([])
  },
)

test.for(["/openapi/v2", "/api/v1/namespaces/default/configmaps/c", "/api/v1/namespaces/default/configmaps"])(
  "%s is answered whole if the request offers another protocol",
  async (path) => {
    await using fixture = await startTestGateway()
    const { certificate = "", key = "", url } = await fixture.createTenant("t")
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", namespace: "default" } }
    await fixture
      .client("/tenants/t", { certificate, key })
      .create(configMaps, { ...object, data: { text: "x".repeat(900_000) } })
    const { hostname, port, pathname } = new URL(url)
    const identity = { cert: certificate, key, ca: fixture.gateway.certificateAuthority }
    const socket = connect({ host: hostname, port: Number(port), checkServerIdentity: () => undefined, ...identity })
    const head = ["host: t", "connection: Upgrade", "upgrade: h2c", "accept: application/json"].join("\r\n")
    socket.write(`GET ${pathname}${path} HTTP/1.1\r\n${head}\r\n\r\n`)
    const answer = await buffer(socket)
    const [, headers = "", body = ""] = /^(HTTP.*?)\r\n\r\n(.*)$/s.exec(answer.toString()) ?? []
    const length = /content-length: (\d+)/i.exec(headers)?.[1]
    if (length === undefined) expect(body).toMatch(/\r\n0\r\n\r\n$/)
    else expect(Buffer.byteLength(body)).toBe(Number(length))
    expect(body.length).toBeGreaterThan(900_000)
  },
)
