// HTTP/2 with several processes, whichever of them has the connection and whichever has the tenant.

import { once } from "node:events"
import { connect, type ClientHttp2Session } from "node:http2"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { certificateOf, type Credential } from "../harness/https.ts"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"

let up: Polyplane
/** So many that they are not all in one process. */
const tenants = ["one", "two", "three", "four"]
const patience = { timeoutMs: 60_000 }

beforeAll(async () => {
  const args = ["--workers", "2", "--tenants", tenants.join(",")]
  up = await startPolyplane({ args, readyTimeoutMs: 120_000 })
}, 150_000)

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
})

function open({ certificate, key }: Credential = {}): ClientHttp2Session {
  const credential = certificate === undefined || key === undefined ? {} : { cert: certificate, key }
  return connect(up.url, { rejectUnauthorized: false, ...credential })
}

/** The status code of a GET with a body whose length no header declares. */
async function get(session: ClientHttp2Session, path: string, body?: string): Promise<number | undefined> {
  const stream = session.request({ ":path": path }, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  const [headers] = (await once(stream, "response")) as [{ ":status"?: number }]
  await once(stream.resume(), "close")
  return headers[":status"]
}

describe("data sent by an anonymous client", () => {
  test("does not become part of another client's request between processes", async () => {
    // If a worker parsed this as the beginning of a request, it would swallow the first line of the next request and use its
    // credential.
    const beginning = "GET /nowhere HTTP/1.1\r\nx-swallow: "
    // Connections are distributed round-robin: two of each reach both processes.
    const strangers = [open(), open()]
    for (const tenant of tenants) {
      const path = `/tenants/${tenant}/version`
      const credential = certificateOf(await up.readKubeconfig(tenant))
      const admins = [open(credential), open(credential)]
      for (const stranger of strangers) expect(await get(stranger, path, beginning)).toBe(200)
      for (const admin of admins) expect(await get(admin, path)).toBe(200)
      for (const admin of admins) admin.close()
    }
    for (const stranger of strangers) stranger.close()
  })
})

describe("kubectl over HTTP/2, with --workers", () => {
  test("every tenant responds, over connections to different workers", { timeout: 120_000 }, async () => {
    for (const kubeconfig of [...tenants, ...tenants]) {
      const env = { ...up.environment(kubeconfig), GODEBUG: "http2debug=1" }
      const { code, stderr, stdout } = await up.tryKubectl(["get", "namespaces"], { kubeconfig, env, ...patience })
      expect([code, stdout]).toEqual([0, expect.stringContaining("kube-system")])
      expect(stderr).toContain("http2: Transport received HEADERS")
    }
  })

  test("writes, watches and executes", { timeout: 180_000 }, async () => {
    for (const kubeconfig of tenants.slice(0, 2)) {
      await up.kubectl(["create", "deployment", "web", "--image=nginx"], { kubeconfig })
      await up.kubectl(["rollout", "status", "deployment", "web", "--timeout=60s"], { kubeconfig, ...patience })
      const typed = { kubeconfig, input: "typed\n", ...patience }
      expect(await up.kubectl(["exec", "-i", "deploy/web", "--", "cat"], typed)).toBe("typed\n")
    }
  })

  test("and the server exits on request", async () => {
    expect(await up.stop()).toBe(0)
  })
})
