// What users may do in a tenant, over TLS: by roles, with tokens of service accounts, and as the administrator of the gateway.

import { generateKeyPairSync, sign } from "node:crypto"
import { describe, expect, test } from "vitest"
import type { ServiceAccount } from "../apimachinery/object.ts"
import { clusterRoleBindings, serviceAccounts } from "../client/resources.ts"
import { a, fixture, tokenA, tokenOf, useTwoTenants } from "./testing/two-tenants.ts"

useTwoTenants()

describe("authorization", () => {
  test("permissions of a service account apply from the next request", async () => {
    const list = () => fixture.request("/tenants/a/api/v1/namespaces/default/configmaps", { token: tokenA })
    expect((await list()).json()).toMatchObject({
      code: 403,
      message:
        'configmaps is forbidden: User "system:serviceaccount:default:default" cannot list resource "configmaps" in API group "" in the namespace "default"',
      details: { kind: "configmaps" },
    })
    const client = fixture.client("/tenants/a", a)
    await client.create(clusterRoleBindings, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "view" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ kind: "ServiceAccount", name: "default", namespace: "default" }],
    })
    expect((await list()).code).toBe(200)
    expect((await fixture.request("/tenants/a/api/v1/namespaces/default/secrets", { token: tokenA })).code).toBe(403)
    await client.delete(clusterRoleBindings, undefined, "view")
    expect((await list()).code).toBe(403)
  })

  test("nobody can grant permissions that they do not have", async () => {
    const client = fixture.client("/tenants/a", a)
    const rbac = "rbac.authorization.k8s.io"
    await client.create(
      { group: rbac, version: "v1", resource: "clusterroles", namespaced: false },
      {
        apiVersion: `${rbac}/v1`,
        kind: "ClusterRole",
        metadata: { name: "role-maker" },
        rules: [{ apiGroups: [rbac], resources: ["clusterroles", "clusterrolebindings"], verbs: ["create"] }],
      },
    )
    await client.create(clusterRoleBindings, {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "role-maker" },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "role-maker" },
      subjects: [{ kind: "ServiceAccount", name: "default", namespace: "default" }],
    })
    const createRole = (name: string, fields: object) =>
      fixture.request(`/tenants/a/apis/${rbac}/v1/clusterroles`, {
        token: tokenA,
        method: "POST",
        body: { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name }, ...fields },
      })
    const answer = await createRole("more", { rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }] })
    expect(answer.json()).toMatchObject({ code: 403, reason: "Forbidden" })
    expect((answer.json() as { message: string }).message).toContain(
      "is attempting to grant RBAC permissions not currently held",
    )
    const aggregated = await createRole("any", { aggregationRule: { clusterRoleSelectors: [{}] } })
    expect(aggregated.json()).toMatchObject({
      code: 403,
      message: `clusterroles.${rbac} "any" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
    })
  })
})

describe("tokens", () => {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")

  function withClaims(change: object): string {
    const [header, payload = "", signature] = tokenA.split(".")
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as object
    return `${header}.${encode({ ...claims, ...change })}.${signature}`
  }

  function signedAnew(): string {
    const [header, payload] = tokenA.split(".")
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
    return `${header}.${payload}.${sign("sha256", Buffer.from(`${header}.${payload}`), privateKey).toString("base64url")}`
  }

  test.each<[string, () => string | Promise<string>]>([
    ["that are none", () => "nonsense"],
    ["in three parts that are none", () => "a.b.c"],
    ["with another signature", signedAnew],
    ["without a signature", () => `${encode({ alg: "none", typ: "JWT" })}.${tokenA.split(".")[1]}.`],
    ["that shall end later", () => withClaims({ exp: 4_000_000_000 })],
    ["for another audience", () => tokenOf("a", ["elsewhere"])],
  ])("%s are rejected", async (_what, make) => {
    const answer = await fixture.request("/tenants/a/api/v1/namespaces", { token: await make() })
    expect(answer.json()).toMatchObject({ kind: "Status", reason: "Unauthorized", message: "Unauthorized", code: 401 })
    expect(answer.code).toBe(401)
  })

  test("are rejected after their account is deleted", async () => {
    const client = fixture.client("/tenants/a", a)
    await client.create<ServiceAccount>(serviceAccounts, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { namespace: "default", name: "short" },
    })
    const answer = await fixture.request("/tenants/a/api/v1/namespaces/default/serviceaccounts/short/token", {
      ...a,
      method: "POST",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 600 } },
    })
    const { token } = (answer.json() as { status: { token: string } }).status
    expect((await fixture.request("/tenants/a/version", { token })).code).toBe(200)
    await client.delete(serviceAccounts, "default", "short")
    expect((await fixture.request("/tenants/a/version", { token })).code).toBe(401)
  })

  test("can be verified with the issuer's published keys", async () => {
    const configuration = (await fixture.request("/tenants/a/.well-known/openid-configuration", a)).json() as Record<
      string,
      string
    >
    expect(configuration["issuer"]).toBe("https://kubernetes.default.svc/tenants/a")
    expect(configuration["jwks_uri"]).toBe(`${fixture.url}/tenants/a/openid/v1/jwks`)
    const keys = (await fixture.request("/tenants/a/openid/v1/jwks", a)).json() as {
      keys: { kid: string; alg: string }[]
    }
    const header = JSON.parse(Buffer.from(tokenA.split(".")[0] ?? "", "base64url").toString()) as { kid: string }
    expect(keys.keys.map(({ kid }) => kid)).toEqual([header.kid])
  })
})

describe("the gateway's administrator", () => {
  test("is a master in every tenant, and gets 404 for missing tenants", async () => {
    const list = await fixture.request("/tenants/b/api/v1/namespaces", fixture.administrator)
    expect(list.code).toBe(200)
    expect((await fixture.request("/tenants/nobody-there/api", fixture.administrator)).json()).toMatchObject({
      code: 404,
      message: 'tenants "nobody-there" not found',
    })
    expect((await fixture.request("/api/v1/namespaces", fixture.administrator)).code).toBe(200)
  })

  test("can read the metrics of each tenant, and of all without their names", async () => {
    const seen =
      'apiserver_request_total{code="200",component="apiserver",dry_run="",group="policy",resource="poddisruptionbudgets"'
    await fixture.request("/tenants/b/apis/policy/v1/poddisruptionbudgets", fixture.administrator)
    expect((await fixture.request("/tenants/b/metrics", fixture.administrator)).text).toContain(seen)
    expect((await fixture.request("/tenants/a/metrics", fixture.administrator)).text).not.toContain(seen)
    expect((await fixture.request("/metrics", fixture.administrator)).text).toContain(seen)
    expect((await fixture.request("/tenants/b/metrics")).code).toBe(403)
  })

  test("can read a tenant's health checks as metrics", async () => {
    const { code, text } = await fixture.request("/tenants/b/metrics/slis", fixture.administrator)
    expect(code).toBe(200)
    expect(text).toContain('kubernetes_healthcheck{name="etcd",type="readyz"} 1\n')
    expect((await fixture.request("/tenants/b/metrics/slis")).code).toBe(403)
    expect((await fixture.request("/tenants/b/metrics/other", fixture.administrator)).code).toBe(404)
  })

  test("can read the metrics, which contain no tenant names", async () => {
    const { code, text } = await fixture.request("/metrics", fixture.administrator)
    expect(code).toBe(200)
    expect(text).toContain("apiserver_request_total")
    expect(text).toContain("polyplane_tenants 2")
    expect(text).not.toContain("nobody-there")
  })
})
