import { once } from "node:events"
import { connect, createServer, type AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { UserError } from "../command.ts"
import { HealthServer } from "./health.ts"

const host = "127.0.0.1"

describe("a part's health server", () => {
  const metrics = new ClientMetrics()
  let server: HealthServer
  beforeAll(async () => {
    server = await HealthServer.start({ host, port: 0 }, metrics)
  })
  afterAll(() => server[Symbol.asyncDispose]())

  const ask = async (path: string, method = "GET") => {
    const response = await fetch(`http://${host}:${server.port}${path}`, { method })
    return { code: response.status, type: response.headers.get("content-type"), text: await response.text() }
  }

  test("is live from the start, and ready when the part is ready", async () => {
    expect((await ask("/livez")).code).toBe(200)
    expect((await ask("/readyz")).code).toBe(503)
    server.ready()
    expect(await ask("/readyz?verbose")).toMatchObject({ code: 200, text: "ok" })
    expect(await ask("/healthz", "HEAD")).toMatchObject({ code: 200, text: "" })
  })

  test("serves the metrics of its clients and of the process", async () => {
    metrics.queue("syncer").added("a")
    metrics.setLeader("polyplane-syncer", false)
    const { code, type, text } = await ask("/metrics")
    expect([code, type]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"])
    expect(text).toContain('workqueue_adds_total{name="syncer"} 1\n')
    expect(text).toContain('leader_election_master_status{name="polyplane-syncer"} 0\n')
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m)
  })

  // The kubelet would restart a part whose probes are kept out.
  test("answers while others hold as many connections as they can", async () => {
    const silent = Array.from({ length: 100 }, () => connect(server.port, host).on("error", () => undefined))
    await Promise.all(silent.map((socket) => once(socket, "connect")))
    // A connection of its own, unlike those of fetch().
    const probe = connect(server.port, host)
    probe.end("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    expect(Buffer.concat(await probe.toArray()).toString()).toMatch(/^HTTP\/1\.1 200 OK/)
    for (const socket of silent) socket.destroy()
  })

  test("serves nothing else", async () => {
    expect((await ask("/")).code).toBe(404)
    expect((await ask("/metrics", "POST")).code).toBe(405)
  })
})

test("reports an address that is in use", async () => {
  const taken = createServer().listen(0, host)
  await once(taken, "listening")
  const { port } = taken.address() as AddressInfo
  const refused: unknown = await HealthServer.start({ host, port }, new ClientMetrics()).catch(
    (error: unknown) => error,
  )
  taken.close()
  expect(refused).toBeInstanceOf(UserError)
  expect((refused as UserError).message).toContain(
    `health cannot be served: port ${port} of ${host} is in use by another process`,
  )
})

test("reports an address that is not one of this machine", async () => {
  const error: unknown = await HealthServer.start({ host: "192.0.2.1", port: 0 }, new ClientMetrics()).catch((e) => e)
  expect(error).toBeInstanceOf(UserError)
  expect((error as Error).message).toBe(
    'health cannot be served: "192.0.2.1" is not an address of this machine. 0.0.0.0 selects all of IPv4, and :: all of IPv6 and IPv4',
  )
})
