// Tokens of issuers that kube-apiserver's --authentication-config names, and a tenant's ConfigMap.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Loose } from "../../../gateway/testing/kinds.ts"
import type { WebhookCall, WebhookReply } from "../../../gateway/testing/webhook-server.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { issuerCases } from "./issuers/cases.ts"
import { faultyAuthenticators } from "./issuers/faults.ts"
import { IssuerServers } from "./issuers/servers.ts"

/** Number of issuers that a server is configured with at a time; there may be 64. */
const together = 45
const cases = issuerCases().map((one, index) => ({ ...one, id: `c${index}` }))
const parts = Array.from({ length: Math.ceil(cases.length / together) }, (_, index) =>
  cases.slice(index * together, (index + 1) * together),
)

describe.skipIf(lacks(TestKubernetes.binaries()))("issuers of a tenant are those of kube-apiserver", () => {
  let servers: IssuerServers
  beforeAll(async () => {
    servers = await IssuerServers.start(answer)
  })
  afterAll(() => servers?.[Symbol.asyncDispose]())

  describe.each(parts)("configured together", (...part) => {
    beforeAll(async () => {
      const authenticators = part.map(({ id, issuer, authenticator }) => ({
        issuer: servers.issuer(id, issuer),
        ...authenticator,
      }))
      await servers.configure(authenticators)
    })

    test.each(part)("$name", async ({ id, tokens }) => {
      const [theirs, ours]: [Loose[], Loose[]] = [[], []]
      for (const claims of tokens) {
        const { kubernetes, polyplane } = await servers.review(await servers.token(id, withEndpoints(claims, id)))
        theirs.push({ claims, ...withoutTime(kubernetes) })
        ours.push({ claims, ...withoutTime(polyplane) })
      }
      expect(ours).toEqual(theirs)
    })
  })

  test("a token is for the audiences of the server, whatever its own are", async () => {
    await servers.configure([
      { issuer: servers.issuer("own"), claimMappings: { username: { claim: "sub", prefix: "" } } },
    ])
    const token = await servers.token("own", { sub: "ann" })
    for (const audiences of [[], ["own"], ["x"], ["x", "own"], ["polyplane"]]) {
      const { kubernetes, polyplane } = await servers.reviewFor(token, audiences)
      expect({ audiences, ...polyplane }).toEqual({ audiences, ...kubernetes })
    }
  })

  test("all that is wrong with authenticators is told", async () => {
    const faulty = faultyAuthenticators()
    for (let at = 0; at < faulty.length; at += together) {
      const { kubernetes, polyplane } = await servers.faults(faulty.slice(at, at + together).map(withURL))
      expect(polyplane).toEqual(kubernetes)
    }
  })

  test("the issuer of the server's own tokens is none of these", async () => {
    const own = (url: string): Loose => ({
      issuer: { url, audiences: ["a"] },
      claimMappings: { username: { claim: "sub", prefix: "" } },
    })
    const { kubernetes, polyplane } = await servers.faults((await servers.ownIssuers()).map(own))
    const fault =
      /^jwt\[\d\]\.issuer\.url: Invalid value: "([^"]*)": URL must not overlap with disallowed issuers: \[\1\]$/
    expect(kubernetes).toEqual([expect.stringMatching(fault)])
    expect(polyplane).toEqual([expect.stringMatching(fault)])
  })

  const withEndpoints = (claims: Loose, id: string): Loose =>
    JSON.parse(JSON.stringify(claims).replaceAll("@{issuer}", servers.urlOf(id))) as Loose
})

const withURL = (one: Loose, index: number): Loose =>
  one["issuer"] === undefined ? one : { ...one, issuer: { url: `https://i${index}.example.com`, ...one["issuer"] } }

/** Upstream prints it to the nanosecond. */
function withoutTime({ error, ...status }: Loose): Loose {
  return { ...status, error: String(error).replace(/current time .* before/, "current time <now> before") }
}

/** What the issuers answer to those who ask for claims that are not in a token. */
async function answer({ path, headers }: WebhookCall, servers: IssuerServers): Promise<WebhookReply> {
  const other = (claims: Loose): Promise<string> => servers.token("other", claims)
  switch (path.split("/").at(-1)) {
    case "groups":
      return headers.authorization === "Bearer word"
        ? { text: await other({ groups: ["x", "y"] }) }
        : { code: 401, body: {} }
    case "claims":
      return headers.authorization === undefined ? { text: await other({ others: ["x"] }) } : { code: 401, body: {} }
    case "expired":
      return { text: await other({ groups: ["x"], exp: 1 }) }
    case "words":
      return { text: "words" }
    case "later":
      return { code: 302, headers: { location: path.replace("later", "groups") }, body: {} }
    default:
      return { code: 404, body: {} }
  }
}
