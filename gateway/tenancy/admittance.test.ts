// Callers that do not wake a sleeping tenant, on a real gateway: they get the same responses as from the tenant when it is awake.

import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest"
import type { ConfigMap, KubeObject, ServiceAccount } from "../../apimachinery/object.ts"
import { clusterRoleBindings, configMaps, serviceAccounts } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { configurationField, configurationName } from "../authentication/oidc/configuration.ts"
import { createTokenIssuer } from "../authentication/service-account-token.ts"
import type { TrustRoots } from "../authentication/types.ts"
import { NetworkRules } from "../backends/networks.ts"
import { startTestGateway, type RawRequest, type TestGateway, type TestTenant } from "../testing/start-gateway.ts"
import { createAuthority, createSigningKey, issueClientCertificate } from "../pki/pki.ts"
import { authorityName } from "../pki/trust-store.ts"
import { TenantEntry } from "./tenant-entry.ts"

vi.setConfig({ testTimeout: 180_000 })

let fixture: TestGateway
let tenant: TestTenant
let client: KubeClient
let trust: TrustRoots

const asleep = (): Promise<void> =>
  vi.waitFor(() => expect(fixture.gateway.tenants.awake).toBe(0), { timeout: 60_000, interval: 5 })

beforeAll(async () => {
  fixture = await startTestGateway({ limits: { tenantIdleMs: 40 } })
  tenant = await fixture.createTenant("a")
  client = fixture.client("/tenants/a", tenant)
  ;({ trust } = (await fixture.gateway.tenants.byName("a"))!)
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

async function tokenBy(roots: TrustRoots, expirationSeconds = 3600): Promise<string> {
  const { metadata } = await client.get<ServiceAccount>(serviceAccounts, "default", "default")
  const serviceAccount = { name: "default", uid: metadata.uid ?? "" }
  const issuer = createTokenIssuer(roots, client)
  return (await issuer.issue({ namespace: "default", serviceAccount, audiences: [], expirationSeconds })).token
}

/** The responses of the tenant awake and asleep, and whether it stayed asleep for the second one. */
async function ask(path: string, credential: RawRequest = {}) {
  const request = async () => {
    const { code, text } = await fixture.request(path, credential)
    return { code, text }
  }
  // Keeps it awake regardless of the request.
  const leave = (await fixture.gateway.tenants.byName("a"))!.presence.enter()
  const answered = await request()
  leave()
  await asleep()
  const again = await request()
  return { answered, again, sleptOn: fixture.gateway.tenants.awake === 0 }
}

const pods = "/tenants/a/api/v1/namespaces/default/pods"

describe("a sleeping tenant stays asleep", () => {
  test.each([
    ["a resource that requires permissions", pods, 403],
    ["something that is not served", "/tenants/a/apis/none.example.com/v1/things", 403],
    ["its version", "/tenants/a/version", 200],
    ["its health", "/tenants/a/readyz?verbose", 200],
    ["its keys", "/tenants/a/openid/v1/jwks", 403],
  ])("for an anonymous request for %s", async (_what, path, code) => {
    const { answered, again, sleptOn } = await ask(path)
    expect(answered.code).toBe(code)
    expect(again).toEqual(answered)
    expect(sleptOn).toBe(true)
  })

  test("for an anonymous request with impersonation headers", async () => {
    const { answered, again, sleptOn } = await ask(pods, { headers: { "impersonate-user": "admin" } })
    expect(answered.code).toBe(403)
    expect(again).toEqual(answered)
    expect(sleptOn).toBe(true)
  })

  const badCredentials: [string, () => Promise<RawRequest>][] = [
    ["an invalid token", async () => ({ token: "secret" })],
    [
      "a token with a forged signature",
      async () => {
        const key = await createSigningKey()
        return { token: await tokenBy({ ...trust, serviceAccountKey: { ...trust.serviceAccountKey, private: key } }) }
      },
    ],
    ["a token of another issuer", async () => ({ token: await tokenBy({ ...trust, issuer: "https://elsewhere" }) })],
    ["a token that has expired", async () => ({ token: await tokenBy(trust, -3600) })],
    [
      "a certificate that has expired",
      () =>
        issueClientCertificate(trust.clientCertificateAuthority, { name: "admin", groups: ["system:masters"] }, -1000),
    ],
    [
      "a certificate of an authority with the same name",
      async () => {
        const forged = await createAuthority(authorityName(tenant.tenant.uid))
        return issueClientCertificate(forged, { name: "admin", groups: ["system:masters"] })
      },
    ],
    ["a good certificate and a bad token", async () => ({ ...tenant, token: "secret" })],
  ]
  test.each(badCredentials)("for a request with %s", async (_what, make) => {
    const credential = await make()
    const { answered, again, sleptOn } = await ask(pods, credential)
    expect(answered.code).toBe(401)
    expect(again).toEqual(answered)
    expect(sleptOn).toBe(true)
  })

  test("for a forged token without a tenant path", async () => {
    const key = await createSigningKey()
    const token = await tokenBy({ ...trust, serviceAccountKey: { ...trust.serviceAccountKey, private: key } })
    await asleep()
    expect((await fixture.request("/api/v1/pods", { token })).code).toBe(401)
    expect(fixture.gateway.tenants.awake).toBe(0)
  })
})

describe("a sleeping tenant is woken", () => {
  test("for its own certificate and its own token", async () => {
    const token = await tokenBy(trust)
    await asleep()
    expect((await fixture.request(pods, tenant)).code).toBe(200)
    await asleep()
    // Valid, but without permissions.
    const { code, text } = await fixture.request(pods, { token })
    expect(code).toBe(403)
    expect(text).toContain("system:serviceaccount:default:default")
  })

  test("for anonymous requests if anonymous users have permissions", async () => {
    const binding = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "everybody-may-look" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:unauthenticated" }],
    }
    await client.create<KubeObject>(clusterRoleBindings, binding)
    await asleep()
    expect((await fixture.request(pods)).code).toBe(200)
    await client.delete(clusterRoleBindings, undefined, "everybody-may-look")
    await asleep()
    expect((await fixture.request(pods)).code).toBe(403)
    expect(fixture.gateway.tenants.awake).toBe(0)
  })

  test("to deny anonymous requests that are allowed by default, if the binding was deleted", async () => {
    const viewer = "system:public-info-viewer"
    const binding = await client.get<KubeObject>(clusterRoleBindings, undefined, viewer)
    await client.delete(clusterRoleBindings, undefined, viewer)
    await asleep()
    expect((await fixture.request("/tenants/a/version")).code).toBe(403)
    const { apiVersion, kind, roleRef, subjects } = binding
    await client.create(clusterRoleBindings, {
      apiVersion,
      kind,
      metadata: { name: viewer },
      roleRef,
      subjects,
    } as never)
    await asleep()
    expect((await fixture.request("/tenants/a/version")).code).toBe(200)
  })

  test.each([
    ["https://issuer.example.com", "https://issuer.example.com"],
    ["https://accounts.google.com", "accounts.google.com"],
  ])("for tokens of its own issuer %s, as whose they claim %s", async (url, issuer) => {
    const configuration = {
      apiVersion: "apiserver.config.k8s.io/v1",
      kind: "AuthenticationConfiguration",
      jwt: [{ issuer: { url, audiences: ["a"] }, claimMappings: { username: { claim: "sub", prefix: "" } } }],
    }
    await client.create<ConfigMap>(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: "kube-system", name: configurationName },
      data: { [configurationField]: JSON.stringify(configuration) },
    })
    const token = await tokenBy({ ...trust, issuer })
    const resolving = vi.spyOn(NetworkRules.prototype, "resolve").mockRejectedValue(new Error("there is no network"))
    onTestFinished(() => resolving.mockRestore())
    await asleep()
    const waking = vi.spyOn(TenantEntry.prototype, "controlPlane")
    onTestFinished(() => waking.mockRestore())
    expect((await fixture.request(pods, { token })).code).toBe(401)
    expect(waking).toHaveBeenCalled()
    await client.delete(configMaps, "kube-system", configurationName)
  })
})
