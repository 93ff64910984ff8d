import { decodeJwt, SignJWT } from "jose"
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import type { KubeObject, Secret } from "../../apimachinery/object.ts"
import { notFound } from "../../apimachinery/status.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import { createTrust } from "../pki/trust-store.ts"
import { createTokenAuthenticator, createTokenIssuer } from "./service-account-token.ts"
import type { TrustRoots } from "./types.ts"

const issuer = "https://kubernetes.default.svc/tenants/a"
let trust: TrustRoots
const objects = new Map<string, KubeObject>()

const reader: Pick<KubeClient, "get"> = {
  get<T extends KubeObject>(resource: Resource, namespace: string | undefined, name: string): Promise<T> {
    const object = objects.get(`${resource.resource}/${namespace ?? ""}/${name}`)
    return object === undefined ? Promise.reject(notFound(resource, name)) : Promise.resolve(object as T)
  },
}

const put = (resource: string, namespace: string, name: string, more: object = {}, spec: object = {}): void => {
  const metadata = { name, namespace, uid: `${name}-uid`, ...more }
  objects.set(`${resource}/${namespace}/${name}`, { apiVersion: "v1", kind: "x", metadata, spec })
}

beforeAll(async () => {
  trust = await createTrust({ authorityName: "polyplane tenant a", issuer })
})

beforeEach(() => {
  objects.clear()
  put("serviceaccounts", "ns", "robot")
  put("pods", "ns", "web", {}, { nodeName: "n1" })
  put("secrets", "ns", "s")
  put("nodes", "", "n1")
})

afterEach(() => {
  vi.useRealTimers()
})

const authenticator = () => createTokenAuthenticator(trust, reader, { apiAudiences: [issuer] })
const verify = (token: string, audiences?: string[]) =>
  authenticator().authenticate({ certificates: [], bearerToken: token }, audiences)

const issue = (more: Partial<Parameters<ReturnType<typeof createTokenIssuer>["issue"]>[0]> = {}) =>
  createTokenIssuer(trust, reader).issue({
    namespace: "ns",
    serviceAccount: { name: "robot", uid: "robot-uid" },
    audiences: [],
    expirationSeconds: 3600,
    ...more,
  })

const bound = (kind: string, name: string) => ({ kind, apiVersion: "v1", name, uid: `${name}-uid` })

describe("service-account tokens", () => {
  test("identify the account, its groups, and the pod and node that they are bound to", async () => {
    const { token, expirationTimestamp } = await issue({ boundObject: bound("Pod", "web") })
    const answer = await verify(token)
    expect(answer?.audiences).toEqual([issuer])
    expect(answer?.user).toMatchObject({
      name: "system:serviceaccount:ns:robot",
      uid: "robot-uid",
      groups: ["system:serviceaccounts", "system:serviceaccounts:ns"],
      extra: {
        "authentication.kubernetes.io/pod-name": ["web"],
        "authentication.kubernetes.io/pod-uid": ["web-uid"],
        "authentication.kubernetes.io/node-name": ["n1"],
        "authentication.kubernetes.io/node-uid": ["n1-uid"],
      },
    })
    expect(Date.parse(expirationTimestamp)).toBe((decodeJwt(token).exp ?? 0) * 1000)
  })

  test("that were issued before their pod was scheduled identify its later node", async () => {
    put("pods", "ns", "web")
    const { token } = await issue({ boundObject: bound("Pod", "web") })
    expect((await verify(token))?.user.extra).not.toHaveProperty("authentication.kubernetes.io/node-name")
    put("pods", "ns", "web", {}, { nodeName: "n1" })
    expect((await verify(token))?.user.extra).toMatchObject({
      "authentication.kubernetes.io/node-name": ["n1"],
      "authentication.kubernetes.io/node-uid": ["n1-uid"],
    })
  })

  test.each([
    ["the account was deleted", () => objects.delete("serviceaccounts/ns/robot")],
    ["the account was recreated", () => put("serviceaccounts", "ns", "robot", { uid: "other" })],
    ["the pod was deleted", () => objects.delete("pods/ns/web")],
    ["the pod was recreated", () => put("pods", "ns", "web", { uid: "other" })],
    [
      "the pod has been terminating for long",
      () => put("pods", "ns", "web", { deletionTimestamp: "2020-01-01T00:00:00Z" }),
    ],
  ])("are rejected when %s", async (_what, change) => {
    const { token } = await issue({ boundObject: bound("Pod", "web") })
    await verify(token)
    change()
    await expect(verify(token)).rejects.toMatchObject({ code: 401 })
  })

  test.each(["Secret", "Node"])("bound to a %s are rejected when it is deleted", async (kind) => {
    const [name, key] = kind === "Secret" ? ["s", "secrets/ns/s"] : ["n1", "nodes//n1"]
    const { token } = await issue({ boundObject: bound(kind, name) })
    expect(await verify(token)).toBeDefined()
    objects.delete(key)
    await expect(verify(token)).rejects.toMatchObject({ code: 401 })
  })

  test("are valid only for their audiences", async () => {
    const { token } = await issue({ audiences: ["vault"] })
    await expect(verify(token)).rejects.toMatchObject({ code: 401 })
    expect(await verify(token, ["vault", "other"])).toMatchObject({ audiences: ["vault"] })
    const both = await issue({ audiences: ["vault", "other"] })
    expect(await verify(both.token, ["other", "none", "vault"])).toMatchObject({ audiences: ["other", "vault"] })
  })

  test("of a forged key are rejected, and those of another issuer ignored", async () => {
    const stranger = await createTrust({ authorityName: "b", issuer })
    const forged = await createTokenIssuer(stranger, reader).issue({
      namespace: "ns",
      serviceAccount: { name: "robot", uid: "robot-uid" },
      audiences: [],
      expirationSeconds: 3600,
    })
    await expect(verify(forged.token)).rejects.toMatchObject({ code: 401 })
    const elsewhere = await createTrust({ authorityName: "b", issuer: "https://other" })
    const { token } = await createTokenIssuer(elsewhere, reader).issue({
      namespace: "ns",
      serviceAccount: { name: "robot", uid: "robot-uid" },
      audiences: [],
      expirationSeconds: 3600,
    })
    expect(await verify(token)).toBeUndefined()
  })

  test.each([
    ["expired", { exp: 1000, nbf: 900 }],
    ["not valid yet", { exp: 9_999_999_999, nbf: 9_999_999_000 }],
    ["without an end", { nbf: 900 }],
  ])("that are %s are rejected", async (_what, times) => {
    const claims = { namespace: "ns", serviceaccount: { name: "robot", uid: "robot-uid" } }
    const token = await new SignJWT({ iss: issuer, aud: issuer, sub: "x", "kubernetes.io": claims, ...times })
      .setProtectedHeader({ alg: "ES256" })
      .sign(trust.serviceAccountKey.private)
    await expect(verify(token)).rejects.toMatchObject({ code: 401 })
  })

  test.each<[string, () => unknown, string]>([
    ["the account is gone", () => objects.delete("serviceaccounts/ns/robot"), 'serviceaccounts "robot" not found'],
    [
      "the account was made anew",
      () => put("serviceaccounts", "ns", "robot", { uid: "new" }),
      "service account UID (new) does not match claim (robot-uid)",
    ],
    [
      "the account is long being deleted",
      () => put("serviceaccounts", "ns", "robot", { deletionTimestamp: "2020-01-01T00:00:00Z" }),
      "service account ns/robot has been deleted",
    ],
    ["the pod is gone", () => objects.delete("pods/ns/web"), "service account token has been invalidated"],
    [
      "the pod was made anew",
      () => put("pods", "ns", "web", { uid: "new" }),
      "pod UID (new) does not match service account pod ref claim (web-uid)",
    ],
    ["they have expired", () => vi.setSystemTime(Date.now() + 4_000_000), "service account token has expired"],
  ])("are rejected with upstream's reason when %s", async (_what, change, reason) => {
    vi.useFakeTimers({ toFake: ["Date"] })
    const { token } = await issue({ boundObject: bound("Pod", "web") })
    change()
    await expect(verify(token)).rejects.toMatchObject({ code: 401, cause: { message: reason } })
  })

  test.each<[string, object, string | undefined]>([
    ["begin in a minute", { nbf: 1060 }, undefined],
    ["begin later", { nbf: 1061 }, "service account token is not valid yet"],
    ["were issued a minute ago in the future", { iat: 1060 }, undefined],
    ["were issued later", { iat: 1061 }, "service account token is issued in the future"],
    ["name another key", { kid: "other" }, "invalid signature, no keys found"],
    ["are for others and have expired", { aud: "x", exp: 1 }, "token audiences"],
  ])("that %s are accepted or rejected as upstream", async (_what, more: { kid?: string }, reason) => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 })
    const { kid, ...times } = more
    const account = { namespace: "ns", serviceaccount: { name: "robot", uid: "robot-uid" } }
    const claims = { iss: issuer, aud: issuer, exp: 2000, "kubernetes.io": account, ...times }
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: "ES256", ...(kid === undefined ? {} : { kid }) })
      .sign(trust.serviceAccountKey.private)
    const answer = verify(token)
    if (reason === undefined) expect(await answer).toBeDefined()
    else await expect(answer).rejects.toMatchObject({ cause: { message: expect.stringContaining(reason) } })
  })

  test("tell the audiences they are for, and those asked for", async () => {
    const { token } = await issue({ audiences: ["vault", 'x"y'] })
    await expect(verify(token, ["a", "b"])).rejects.toMatchObject({
      cause: { message: 'token audiences ["vault" "x\\"y"] is invalid for the target audiences ["a" "b"]' },
    })
  })

  test("are rejected a minute after their expiry, for clocks differ", async () => {
    const known = authenticator()
    const { token } = await issue({ expirationSeconds: 600 })
    const ask = () => known.authenticate({ certificates: [], bearerToken: token })
    const end = (decodeJwt(token).exp ?? 0) * 1000
    vi.useFakeTimers({ toFake: ["Date"], now: end - 1000 })
    expect(await ask()).toBeDefined()
    vi.setSystemTime(end + 60_000)
    expect(await ask()).toBeDefined()
    vi.setSystemTime(end + 60_001)
    await expect(ask()).rejects.toMatchObject({ code: 401 })
  })

  test("without a signature are rejected", async () => {
    const { token } = await issue()
    const [, payload] = token.split(".")
    const none = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url")
    await expect(verify(`${none}.${payload}.`)).rejects.toMatchObject({ code: 401 })
  })

  test("of a Secret are accepted until it is marked as invalid or holds another", async () => {
    const { token } = await issue({ boundObject: bound("Secret", "s"), expirationSeconds: 2 ** 32 })
    const hold = (labels: object, held = token): void => {
      put("secrets", "ns", "s", { labels })
      const data = { token: Buffer.from(held).toString("base64") }
      Object.assign(objects.get("secrets/ns/s") ?? {}, { type: "kubernetes.io/service-account-token", data })
    }
    const uses: string[] = []
    const used = ({ metadata }: Secret): number => uses.push(metadata.name ?? "")
    const asked = createTokenAuthenticator(trust, reader, { apiAudiences: [issuer], used })
    const ask = async (bearerToken = token) => asked.authenticate({ certificates: [], bearerToken })
    hold({})
    expect((await ask())?.user.extra).toEqual({})
    expect(await ask()).toMatchObject({
      annotations: {
        "authentication.k8s.io/legacy-token": "system:serviceaccount:ns:robot",
        "authentication.k8s.io/legacy-token-manual-secret": "s",
      },
    })
    expect((await ask())?.warning).toBeUndefined()
    Object.assign(objects.get("serviceaccounts/ns/robot") ?? {}, { secrets: [{ name: "s" }] })
    expect((await ask())?.warning).toMatch(/^Use tokens from the TokenRequest API/)
    expect(await ask()).toMatchObject({
      annotations: { "authentication.k8s.io/legacy-token-autogenerated-secret": "s" },
    })
    hold({ "kubernetes.io/legacy-token-invalid-since": "" })
    expect(await ask()).toBeDefined()
    expect(uses).toHaveLength(6)
    hold({ "kubernetes.io/legacy-token-invalid-since": "2026-01-31" })
    await expect(ask()).rejects.toMatchObject({ code: 401 })
    expect(uses).toHaveLength(7)
    hold({}, "another")
    await expect(ask()).rejects.toMatchObject({ cause: { message: "Token does not match server's copy" } })
    const own = await issue({ boundObject: bound("Secret", "s") })
    expect(await ask(own.token)).toBeDefined()
    expect(uses).toHaveLength(7)
  })

  test("of a pod are valid for longer than requested if admission requested them", async () => {
    const { token, expirationTimestamp } = await issue({ expirationSeconds: 3607, extendedSeconds: 7200 })
    const { exp = 0, iat = 0, ...claims } = decodeJwt(token)
    expect(exp - iat).toBe(7200)
    expect(claims["kubernetes.io"]).toMatchObject({ warnafter: iat + 3607 })
    expect(Date.parse(expirationTimestamp)).toBe((iat + 3607) * 1000)
    vi.useFakeTimers({ toFake: ["Date"], now: (iat + 3607) * 1000 })
    expect((await verify(token))?.annotations).toBeUndefined()
    vi.setSystemTime((iat + 3650) * 1000)
    expect((await verify(token))?.annotations).toEqual({
      "authentication.k8s.io/stale-token":
        "subject: system:serviceaccount:ns:robot, seconds after warning threshold: 43",
    })
  })

  test("expire after the requested time", async () => {
    const { token } = await issue({ expirationSeconds: 2 ** 32 })
    const { exp = 0, iat = 0 } = decodeJwt(token)
    expect(exp - iat).toBe(2 ** 32)
  })
})
