// Resumed TLS sessions, which skip the exchange of certificates: the tenant's current decision about the certificate still
// determines the user. Connections do not exchange them again.

import { once } from "node:events"
import { connect, type TLSSocket } from "node:tls"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Credential, startTestGateway, type TestGateway, type TestTenant } from "./testing/start-gateway.ts"

let fixture: TestGateway
let tenant: TestTenant

beforeAll(async () => {
  fixture = await startTestGateway({ http2: true })
  tenant = await fixture.createTenant("a")
  await fixture.createTenant("b")
})

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
})

type Version = "TLSv1.2" | "TLSv1.3"

interface Opened {
  socket: TLSSocket
  /** A session to be resumed, which arrives with the first response at the latest. */
  session: Promise<Buffer>
}

async function open(version: Version, { certificate, key }: Credential, session?: Buffer): Promise<Opened> {
  const { hostname, port } = new URL(fixture.url)
  const socket = connect({
    host: hostname,
    port: Number(port),
    ca: fixture.gateway.certificateAuthority,
    checkServerIdentity: () => undefined,
    minVersion: version,
    maxVersion: version,
    ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
    ...(session === undefined ? {} : { session }),
  })
  const given = once(socket, "session").then(([bytes]) => bytes as Buffer)
  given.catch(() => undefined) // some tests do not wait for it
  await once(socket, "secureConnect")
  return { socket, session: given }
}

/** The user as whom a tenant authenticates the connection; the HTTP code if it does not. */
async function who(socket: TLSSocket, name: string): Promise<string> {
  const path = `/tenants/${name}/apis/authentication.k8s.io/v1/selfsubjectreviews`
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`
  socket.write(head)
  let text = ""
  for await (const piece of socket as AsyncIterable<Buffer>) {
    text += piece.toString()
    const [found, body = ""] = text.split("\r\n\r\n")
    const length = /content-length: (\d+)/i.exec(found ?? "")?.[1]
    if (length === undefined || body.length < Number(length)) continue
    const answer = JSON.parse(body) as { code?: number; status?: { userInfo?: { username: string } } }
    return answer.status?.userInfo?.username ?? String(answer.code)
  }
  throw new Error(`the connection ended after ${JSON.stringify(text)}`)
}

describe.each<Version>(["TLSv1.2", "TLSv1.3"])("%s", (version) => {
  /** The session of a connection on which the tenant's administrator received a response. */
  async function sessionOf(credential: Credential, name: string, answer: string): Promise<Buffer> {
    const { socket, session } = await open(version, credential)
    expect(await who(socket, name)).toBe(answer)
    return session
  }

  async function resumed(credential: Credential, session: Buffer, name: string): Promise<string> {
    const { socket } = await open(version, credential, session)
    expect(socket.isSessionReused()).toBe(true)
    return who(socket, name)
  }

  test("a resumed session keeps its user, and is anonymous at another tenant", async () => {
    const session = await sessionOf(tenant, "a", "admin")
    expect(await resumed(tenant, session, "a")).toBe("admin")
    expect(await resumed({}, session, "a")).toBe("admin")
    expect(await resumed(tenant, session, "b")).toBe("401")
    expect(await resumed({}, session, "b")).toBe("401")
  })

  test("an anonymous session stays anonymous", async () => {
    const session = await sessionOf({}, "a", "403")
    expect(await resumed(tenant, session, "a")).toBe("403")
  })

  test("a session of a deleted tenant is anonymous at a new tenant of the same name", async () => {
    const name = version === "TLSv1.2" ? "c" : "d"
    const gone = await fixture.createTenant(name)
    const session = await sessionOf(gone, name, "admin")
    await fixture.gateway.tenants.delete(name)
    expect(await resumed(gone, session, name)).toBe("401")
    await fixture.createTenant(name)
    expect(await resumed(gone, session, name)).toBe("401")
  })
})

test("a connection is not renegotiated", async () => {
  const { socket } = await open("TLSv1.2", {})
  const refused = once(socket, "error")
  const renegotiated = once(socket, "secure")
  socket.renegotiate({}, () => undefined)
  await expect(Promise.race([refused, renegotiated])).resolves.toMatchObject([
    { message: expect.stringContaining("no renegotiation") as string },
  ])
})
