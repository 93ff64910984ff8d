// Tenant A's administrator tries every verb on tenant B: by path, by host name, by TLS server name and with mixed credentials. Each
// request is rejected, with exactly the response for a tenant that does not exist.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { certificateOf, call, exchange, type Answer, type Call, type Credential } from "../harness/https.ts"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"

const domain = "tenants.example"
/** As long as the name of tenant B, so that complete responses can be compared. */
const absent = "nemo"

let up: Polyplane
const credentials: Record<string, Credential> = {}
let tokenB = ""

beforeAll(async () => {
  up = await startPolyplane({ args: ["--tenants", "team-a,blue", "--domain", domain] })
  const secret = JSON.stringify({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "secret" },
    stringData: { word: "of-tenant-b" },
  })
  await up.kubectl(["apply", "-f", "-"], { kubeconfig: "blue", input: secret })
  await up.kubectl(["run", "pod", "--image=busybox", "--", "sleep", "3600"], { kubeconfig: "blue" })
  await up.kubectl(["wait", "--for=condition=Ready", "pod/pod"], { kubeconfig: "blue" })
  await up.kubectl(["create", "serviceaccount", "boss"], { kubeconfig: "team-a" })
  await up.kubectl(
    ["create", "clusterrolebinding", "boss", "--clusterrole=cluster-admin", "--serviceaccount=default:boss"],
    { kubeconfig: "team-a" },
  )
  const certificate = certificateOf(await up.readKubeconfig("team-a"))
  const token = (await up.kubectl(["create", "token", "boss"], { kubeconfig: "team-a" })).trim()
  tokenB = (await up.kubectl(["create", "token", "default"], { kubeconfig: "blue" })).trim()
  credentials["certificate"] = certificate
  credentials["token"] = { token }
  credentials["certificate and token"] = { ...certificate, token }
})

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
})

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "x" },
  spec: { containers: [{ name: "a", image: "a" }] },
}
const namespaced = "/api/v1/namespaces/default"
const upgrade = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "MDEyMzQ1Njc4OWFiY2RlZg==",
  "sec-websocket-protocol": "v5.channel.k8s.io",
}

const verbs: (Call & { verb: string })[] = [
  { verb: "get", path: `${namespaced}/secrets/secret` },
  { verb: "list", path: `${namespaced}/secrets` },
  { verb: "list of everything", path: "/api/v1/pods" },
  { verb: "watch", path: "/api/v1/secrets?watch=true&timeoutSeconds=1" },
  { verb: "create", method: "POST", path: `${namespaced}/pods`, body: JSON.stringify(pod) },
  { verb: "update", method: "PUT", path: `${namespaced}/pods/pod`, body: JSON.stringify(pod) },
  {
    verb: "patch",
    method: "PATCH",
    path: `${namespaced}/pods/pod`,
    body: '{"metadata":{"labels":{"a":"b"}}}',
    headers: { "content-type": "application/merge-patch+json" },
  },
  { verb: "delete", method: "DELETE", path: `${namespaced}/secrets/secret` },
  { verb: "deletecollection", method: "DELETE", path: `${namespaced}/pods` },
  { verb: "logs", path: `${namespaced}/pods/pod/log` },
  { verb: "exec", path: `${namespaced}/pods/pod/exec?command=id&stdout=true`, headers: upgrade },
  { verb: "attach", path: `${namespaced}/pods/pod/attach?stdout=true`, headers: upgrade },
  { verb: "port-forward", path: `${namespaced}/pods/pod/portforward?ports=80`, headers: upgrade },
  { verb: "proxy", path: `${namespaced}/pods/pod/proxy/` },
  {
    verb: "token",
    method: "POST",
    path: `${namespaced}/serviceaccounts/default/token`,
    body: '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"audiences":[]}}',
  },
  {
    verb: "self-subject review",
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    body: '{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}',
  },
  {
    verb: "impersonation",
    path: `${namespaced}/secrets`,
    headers: { "impersonate-user": "kubernetes-admin", "impersonate-group": "system:masters" },
  },
  { verb: "discovery", path: "/apis" },
  { verb: "OpenAPI", path: "/openapi/v2" },
  { verb: "an unknown path", path: "/nothing" },
]

/** Requests that are rarely used, in addition to the verbs. */
const oddities: typeof verbs = [
  { verb: "HEAD", method: "HEAD", path: `${namespaced}/secrets/secret` },
  { verb: "OPTIONS", method: "OPTIONS", path: `${namespaced}/secrets/secret` },
  { verb: "a method that no resource has", method: "PROPFIND", path: `${namespaced}/secrets/secret` },
  {
    verb: "exec by POST",
    method: "POST",
    path: `${namespaced}/pods/pod/exec?command=id&stdout=true`,
    headers: upgrade,
  },
  {
    verb: "exec over SPDY",
    method: "POST",
    path: `${namespaced}/pods/pod/exec?command=id&stdout=true`,
    headers: { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": "v4.channel.k8s.io" },
  },
  { verb: "watch over WebSocket", path: "/api/v1/secrets?watch=true&timeoutSeconds=1", headers: upgrade },
  { verb: "proxy over WebSocket", path: `${namespaced}/pods/pod/proxy/`, headers: upgrade },
  { verb: "status", method: "PUT", path: `${namespaced}/pods/pod/status`, body: JSON.stringify(pod) },
  { verb: "a body that is no JSON", method: "POST", path: `${namespaced}/pods`, body: "{" },
  {
    verb: "a body that is announced",
    method: "POST",
    path: `${namespaced}/pods`,
    headers: { expect: "100-continue", "content-length": "10" },
  },
  { verb: "a body too large", method: "POST", path: `${namespaced}/pods`, headers: { "content-length": "5000000" } },
  { verb: "the tokens' issuer", path: "/.well-known/openid-configuration" },
  { verb: "the tokens' keys", path: "/openid/v1/jwks" },
  { verb: "version", path: "/version" },
  { verb: "health", path: "/readyz?verbose" },
  { verb: "metrics", path: "/metrics" },
]

interface Way {
  way: string
  to: (tenant: string, request: Call) => Call
}

const host = (tenant: string) => `${tenant}.${domain}`
const ways: Way[] = [
  { way: "path", to: (tenant, request) => ({ ...request, path: `/tenants/${tenant}${request.path}` }) },
  {
    way: "Host header",
    to: (tenant, request) => ({ ...request, headers: { ...request.headers, host: host(tenant) } }),
  },
  { way: "TLS server name", to: (tenant, request) => ({ ...request, serverName: host(tenant) }) },
  {
    way: "path and Host header",
    to: (tenant, request) => ({
      ...request,
      path: `/tenants/${tenant}${request.path}`,
      headers: { ...request.headers, host: host(tenant) },
    }),
  },
]

/** The parts of a response that a caller can compare, with the name replaced and without values that differ between calls. */
function seen({ status, headers, text }: Answer, tenant: string) {
  const { date: _, "audit-id": __, ...rest } = headers
  const replace = (value: string) => value.replaceAll(tenant, "NAME")
  return { status, headers: JSON.parse(replace(JSON.stringify(rest))) as object, text: replace(text) }
}

/** Sends the same request to tenant B and to a tenant that does not exist, checks that the responses are equal, and returns B's. */
async function both(request: (tenant: string) => Call): Promise<{ there: Answer }> {
  const there = await call(up.url, request("blue"))
  const gone = await call(up.url, request(absent))
  expect(seen(there, "blue")).toEqual(seen(gone, absent))
  return { there }
}

describe.each(["certificate", "token", "certificate and token"])("tenant A's administrator, by %s", (kind) => {
  test.each(ways)("cannot access tenant B by $way", async ({ to }) => {
    for (const { verb, ...request } of verbs) {
      const { there } = await both((tenant) => ({ ...to(tenant, request), ...credentials[kind] }))
      expect(there.status, verb).toBe(401)
      expect(there.text, verb).not.toContain("of-tenant-b")
    }
  })
})

describe("responses, except for time and audit id", () => {
  const masked = (text: string, tenant: string) =>
    text.replace(/^(date|audit-id): .*$/gim, "$1: …").replaceAll(tenant, "NAME")

  test.each([...verbs, ...oddities])("to $verb of tenant B are those for a missing tenant", async (request) => {
    for (const kind of ["certificate", "token", "none"]) {
      for (const { to } of ways.slice(0, 2)) {
        const ask = async (tenant: string) =>
          masked(await exchange(up.url, { ...to(tenant, request), ...credentials[kind] }), tenant)
        const [there, gone] = await Promise.all([ask("blue"), ask(absent)])
        expect(there).toEqual(gone)
        const [status = ""] = there.replace("HTTP/1.1 100 Continue\r\n\r\n", "").split("\r\n")
        expect(status).toMatch(kind === "none" ? /^HTTP\/1\.1 [24]/ : "HTTP/1.1 401 Unauthorized")
        expect(there).not.toContain("of-tenant-b")
      }
    }
  })
})

describe("mixed credentials", () => {
  const own = ["certificate", "token"]

  test.each(own)("with A's %s are rejected with a valid token of B", async (kind) => {
    for (const { to } of ways) {
      const { headers, ...request } = to("blue", { path: `${namespaced}/secrets` })
      const mixed = { ...credentials[kind], ...request }
      const answer = await call(up.url, {
        ...mixed,
        headers: {
          ...headers,
          authorization: `Bearer ${kind === "token" ? `${mixed.token}, Bearer ${tokenB}` : tokenB}`,
        },
      })
      expect(answer.status).toBe(401)
    }
  })

  test("a path of one tenant and the host of another are rejected", async () => {
    for (const kind of own) {
      const request = { path: `/tenants/team-a${namespaced}/secrets`, ...credentials[kind] }
      await both((tenant) => ({ ...request, headers: { host: host(tenant) } })).then(({ there }) =>
        expect(there.status).toBe(401),
      )
    }
  })

  test("encoded paths cannot leave the tenant", async () => {
    for (const path of [
      `/tenants/team-a/../blue${namespaced}/secrets`,
      `/tenants/team-a/%2e%2e/blue${namespaced}/secrets`,
      `/tenants/team-a//tenants/blue${namespaced}/secrets`,
      `/tenants/team-a/tenants/blue${namespaced}/secrets`,
      `/tenants/blue%2f..%2fteam-a${namespaced}/secrets`,
      `//tenants/blue${namespaced}/secrets`,
    ]) {
      const answer = await call(up.url, { path, ...credentials["certificate"] })
      expect(answer.text, path).not.toContain("SecretList")
      expect(answer.text, path).not.toContain("of-tenant-b")
    }
  })

  test("a tenant's administrator has no access to the super cluster and the gateway's admin API", async () => {
    for (const kind of own) {
      const tenants = await call(up.url, { path: "/polyplane/v1/tenants", ...credentials[kind] })
      expect([401, 403, 404]).toContain(tenants.status)
      // Without a name in the URL, the credential selects its own tenant, never the super cluster.
      const list = await call(up.url, { path: "/apis/tenancy.x-k8s.io/v1alpha1/virtualclusters", ...credentials[kind] })
      expect(list.status).toBe(404)
      const pods = await call(up.url, { path: "/api/v1/pods", ...credentials[kind] })
      expect(JSON.parse(pods.text)).toMatchObject({ kind: "PodList", items: [] })
    }
  })

  test("without credentials, responses for B and for a missing tenant are equal", async () => {
    for (const { verb, ...request } of verbs) {
      for (const { to } of ways) {
        const { there } = await both((tenant) => to(tenant, request))
        expect([401, 403], verb).toContain(there.status)
      }
    }
  })

  test("the objects of B are unchanged", async () => {
    expect(await up.kubectl(["get", "secret", "secret", "-o", "jsonpath={.data.word}"], { kubeconfig: "blue" })).toBe(
      Buffer.from("of-tenant-b").toString("base64"),
    )
    const pods = await up.kubectl(["get", "pods", "-o", "name"], { kubeconfig: "blue" })
    expect(pods).toBe("pod/pod\n")
    expect(await up.kubectl(["get", "pod", "pod", "-o", "jsonpath={.metadata.labels}"], { kubeconfig: "blue" })).toBe(
      '{"run":"pod"}',
    )
  })
})
