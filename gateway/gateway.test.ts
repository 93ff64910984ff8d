// Whom a gateway serves over TLS, and which tenant a request selects.

import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { KubeObject, Namespace } from "../apimachinery/object.ts"
import { endpoints, endpointSlices, namespaces, services } from "../client/resources.ts"
import type { RawAnswer } from "./testing/start-gateway.ts"
import { createAuthority, issueClientCertificate } from "./pki/pki.ts"
import { a, b, domain, fixture, tokenA, tokenB, useTwoTenants } from "./testing/two-tenants.ts"

useTwoTenants()

describe("a tenant's administrator", () => {
  test("has a cluster of its own", async () => {
    const client = fixture.client("/tenants/a", a)
    const { items } = await client.list<Namespace>(namespaces)
    expect(items.map(({ metadata }) => metadata.name)).toEqual([
      "default",
      "kube-node-lease",
      "kube-public",
      "kube-system",
    ])
    await client.create<Namespace>(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "mine" } })
    expect((await client.get<Namespace>(namespaces, undefined, "mine")).status?.phase).toBe("Active")
    const others = await fixture.client("/tenants/b", b).list<Namespace>(namespaces)
    expect(others.items.map(({ metadata }) => metadata.name)).not.toContain("mine")
  })

  test("finds its API server as a Service", async () => {
    const service = await fixture.client("/tenants/a", a).get<KubeObject>(services, "default", "kubernetes")
    expect(service).toMatchObject({ spec: { clusterIP: "10.96.0.1", ports: [{ port: 443 }] } })
  })

  test.each([services, endpoints, endpointSlices])(
    "gets another one after deleting it: $resource",
    async (resource) => {
      const client = fixture.client("/tenants/a", a)
      const uid = async () => {
        const { items } = await client.list(resource, { namespace: "default" })
        return items.find(({ metadata }) => metadata.name === "kubernetes")?.metadata.uid
      }
      const before = await uid()
      expect(before).toBeDefined()
      await client.delete(resource, "default", "kubernetes")
      await expect.poll(uid).toSatisfy((now) => now !== undefined && now !== before)
    },
  )

  test.each([
    ["path", () => fixture.request("/tenants/a/version", a)],
    ["host", () => fixture.request("/version", { ...a, headers: { host: `a.${domain}` } })],
    ["TLS server name", () => fixture.request("/version", { ...a, serverName: `a.${domain}` })],
    ["certificate alone", () => fixture.request("/version", a)],
    ["token alone", () => fixture.request("/version", { token: tokenA })],
  ])("reaches it by %s", async (_way, ask) => {
    expect((await ask()).code).toBe(200)
  })

  test("is the user of the certificate, in the tenant of the request", async () => {
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    const byCertificate = await fixture.request(path, { ...a, method: "POST", body: review })
    expect(byCertificate.json()).toMatchObject({
      status: { userInfo: { username: "admin", groups: ["system:masters", "system:authenticated"] } },
    })
    const byToken = await fixture.request(path, { token: tokenB, method: "POST", body: review })
    expect(byToken.json()).toMatchObject({
      status: { userInfo: { username: "system:serviceaccount:default:default" } },
    })
  })
})

describe("another tenant's credential", () => {
  const strip = ({ code, text, headers }: RawAnswer) => {
    const { "audit-id": _id, date: _date, ...rest } = headers
    return { code, text, headers: rest }
  }

  const ways: [string, (tenant: string) => Promise<RawAnswer>][] = [
    ["certificate by path", (tenant) => fixture.request(`/tenants/${tenant}/api/v1/namespaces`, a)],
    [
      "certificate by host",
      (tenant) => fixture.request("/api/v1/namespaces", { ...a, headers: { host: `${tenant}.${domain}` } }),
    ],
    [
      "certificate by server name",
      (tenant) => fixture.request("/api/v1/namespaces", { ...a, serverName: `${tenant}.${domain}` }),
    ],
    ["token by path", (tenant) => fixture.request(`/tenants/${tenant}/api/v1/namespaces`, { token: tokenA })],
    [
      "token by host",
      (tenant) => fixture.request("/api/v1/namespaces", { token: tokenA, headers: { host: `${tenant}.${domain}` } }),
    ],
    [
      "certificate beside a good token",
      (tenant) => fixture.request(`/tenants/${tenant}/api/v1/namespaces`, { ...a, token: tokenB }),
    ],
    [
      "token beside a good certificate",
      (tenant) => fixture.request(`/tenants/${tenant}/api/v1/namespaces`, { ...b, token: tokenA }),
    ],
    ["certificate at the version", (tenant) => fixture.request(`/tenants/${tenant}/version`, a)],
    [
      "certificate to write",
      (tenant) =>
        fixture.request(`/tenants/${tenant}/api/v1/namespaces`, {
          ...a,
          method: "POST",
          body: { kind: "Namespace", apiVersion: "v1", metadata: { name: "x" } },
        }),
    ],
    ["garbage", (tenant) => fixture.request(`/tenants/${tenant}/api/v1/namespaces`, { token: "garbage" })],
  ]

  test.each(ways)("%s is rejected as if the tenant did not exist", async (_way, ask) => {
    const existing = strip(await ask("b"))
    expect(existing.code).toBe(401)
    expect(JSON.parse(existing.text)).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "Unauthorized",
      reason: "Unauthorized",
      code: 401,
    })
    expect(strip(await ask("nobody-there"))).toEqual(existing)
  })

  test("contradictory path and host are rejected for the credentials of either", async () => {
    const mixed = (credential: object) =>
      fixture.request("/tenants/a/api/v1/namespaces", { ...credential, headers: { host: `b.${domain}` } })
    expect((await mixed(a)).code).toBe(401)
    expect((await mixed(b)).code).toBe(401)
  })

  test("a token with another issuer is rejected", async () => {
    const [header, payload = "", signature] = tokenA.split(".")
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as object
    const forged = Buffer.from(JSON.stringify({ ...claims, iss: "https://kubernetes.default.svc/tenants/b" })).toString(
      "base64url",
    )
    for (const path of ["/tenants/b/api", "/api", "/tenants/nobody-there/api"])
      expect((await fixture.request(path, { token: `${header}.${forged}.${signature}` })).code).toBe(401)
  })

  test("a certificate of an authority with the tenant's name is rejected", async () => {
    const imposter = await createAuthority(`polyplane tenant ${b.tenant.uid}`)
    const { certificate, key } = await issueClientCertificate(imposter, { name: "admin", groups: ["system:masters"] })
    for (const path of ["/tenants/b/api", "/api"])
      expect((await fixture.request(path, { certificate, key })).code).toBe(401)
  })

  test("a tenant's masters have no access to the super cluster's plane and the admin API", async () => {
    expect((await fixture.request("/polyplane/v1/tenants", a)).code).toBe(401)
    expect((await fixture.request("/polyplane/v1/tenants", { token: tokenA })).code).toBe(401)
    expect((await fixture.request("/polyplane/v1/tenants")).code).toBe(401)
    const metrics = await fixture.request("/metrics", a)
    expect(metrics.code).toBe(200)
    expect(metrics.text).not.toContain("polyplane_tenants")
  })

  test("requests without credentials are anonymous, and cannot find out which tenants exist", async () => {
    for (const path of ["/version", "/healthz", "/api/v1/namespaces", "/apis"]) {
      const existing = strip(await fixture.request(`/tenants/b${path}`))
      expect([200, 403]).toContain(existing.code)
      expect(strip(await fixture.request(`/tenants/nobody-there${path}`))).toEqual(existing)
    }
  })
})

describe("tenants", () => {
  test("are created once", async () => {
    const { virtualCluster } = a.tenant
    const { uid, ...request } = a.tenant
    expect((await fixture.gateway.tenants.create(request)).uid).toBe(uid)
    const other = { ...request, virtualCluster: { ...virtualCluster, uid: "other" } }
    await expect(fixture.gateway.tenants.create(other)).rejects.toMatchObject({ reason: "AlreadyExists" })
  })

  test("must have names that can be part of a host name", async () => {
    for (const name of ["Upper", "a.b", "../x", "", "x".repeat(64)])
      await expect(fixture.createTenant(name)).rejects.toMatchObject({ reason: "Invalid" })
  })

  test("leave nothing when deleted, and a new tenant of the same name has other keys", async () => {
    const first = await fixture.createTenant("gone")
    const stores = () => readdir(join(fixture.dataDir, "stores"))
    expect(await stores()).toContain(first.tenant.uid)
    await fixture.gateway.tenants.delete("gone")
    await fixture.gateway.tenants.delete("gone")
    expect(await stores()).not.toContain(first.tenant.uid)
    expect((await fixture.request("/tenants/gone/version", first)).code).toBe(401)
    await expect(fixture.gateway.tenants.client("gone").list(namespaces)).rejects.toMatchObject({ reason: "NotFound" })
    const second = await fixture.createTenant("gone")
    expect(second.tenant.uid).not.toBe(first.tenant.uid)
    expect((await fixture.request("/tenants/gone/version", first)).code).toBe(401)
    expect((await fixture.request("/tenants/gone/version", second)).code).toBe(200)
  })
})
