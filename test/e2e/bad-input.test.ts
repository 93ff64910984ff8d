// Mistakes in requests: the response is a clear error like that of Kubernetes. Expired credentials are tested beside their source,
// where tests control the clock: gateway/authentication/*.test.ts.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { certificateOf, call, type Answer } from "../harness/https.ts"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"

let up: Polyplane

beforeAll(async () => {
  up = await startPolyplane({ args: ["--tenants", "demo,other"] })
})

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
})

const container = { name: "main", image: "nginx" }
const pod = (spec: object = {}, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "bad", ...metadata },
  spec: { containers: [container], ...spec },
})

const pods = "/tenants/demo/api/v1/namespaces/default/pods"

async function post(path: string, body?: string, headers: Record<string, string> = {}): Promise<Answer> {
  const credential = certificateOf(await up.readKubeconfig("demo"))
  return call(up.url, { ...credential, method: "POST", path, headers, ...(body === undefined ? {} : { body }) })
}

describe("kubectl apply", () => {
  const manifests: { what: string; object: object; message: string | RegExp }[] = [
    {
      what: "an unknown field",
      object: pod({ containrs: [] }),
      message: 'strict decoding error: unknown field "spec.containrs"',
    },
    {
      what: "a nested unknown field",
      object: pod({ containers: [{ ...container, imagee: "x" }] }),
      message: 'unknown field "spec.containers[0].imagee"',
    },
    {
      what: "a field of the wrong type",
      object: { ...pod(), kind: "Service", spec: { ports: [{ port: "eighty" }] } },
      message: /cannot unmarshal string into Go struct field .*port of type int32/,
    },
    { what: "no containers", object: pod({ containers: [] }), message: "spec.containers: Required value" },
    {
      what: "an unsupported value",
      object: pod({ restartPolicy: "Sometimes" }),
      message: 'spec.restartPolicy: Unsupported value: "Sometimes"',
    },
    {
      what: "an invalid name",
      object: pod({}, { name: "Bad_Name" }),
      message: 'metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of',
    },
    {
      what: "a name that is too long",
      object: pod({}, { name: "a".repeat(254) }),
      message: "must be no more than 253 characters",
    },
    {
      what: "an unknown kind",
      object: { apiVersion: "v1", kind: "Pot", metadata: { name: "a" } },
      message: 'no matches for kind "Pot" in version "v1"',
    },
    {
      what: "an unknown group",
      object: { apiVersion: "example.com/v1", kind: "Pod", metadata: { name: "a" } },
      message: 'no matches for kind "Pod" in version "example.com/v1"',
    },
    {
      what: "a missing namespace",
      object: pod({}, { namespace: "nowhere" }),
      message: 'namespaces "nowhere" not found',
    },
    {
      what: "a selector that does not match its template",
      object: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "bad" },
        spec: {
          selector: { matchLabels: { app: "a" } },
          template: { metadata: { labels: { app: "b" } }, spec: { containers: [container] } },
        },
      },
      message: "`selector` does not match template `labels`",
    },
  ]

  test.each(manifests)("$what is rejected with a message", async ({ object, message }) => {
    // Disables client-side validation, so that the server receives the manifest unchanged.
    const { code, stderr } = await up.tryKubectl(["apply", "-f", "-"], { input: JSON.stringify(object) })
    expect(stderr).toMatch(message)
    expect(code).toBe(1)
  })

  test("rejected objects are not stored", async () => {
    expect(await up.kubectl(["get", "pods,services,deployments.apps", "-A", "-o", "name"])).toBe("service/kubernetes\n")
  })

  test("an object that is too large is rejected with 413 and a message", async () => {
    const object = pod({}, { annotations: { large: "x".repeat(3 * 1024 * 1024) } })
    const answer = await post(pods, JSON.stringify(object))
    expect(answer.status).toBe(413)
    expect(JSON.parse(answer.text)).toMatchObject({ kind: "Status", reason: "RequestEntityTooLarge" })
    const created = await up.tryKubectl(["create", "--validate=false", "-f", "-"], { input: JSON.stringify(object) })
    expect(created.code).toBe(1)
    expect(created.stderr).toMatch(/too large/i)
  })

  test("invalid JSON is rejected with 400", async () => {
    expect(await post(pods, '{"kind":')).toMatchObject({ status: 400 })
    expect(await post(pods, "<pod/>", { "content-type": "text/xml" })).toMatchObject({ status: 415 })
  })

  test("an unsupported method of a resource is rejected with 405", async () => {
    const answer = await post("/tenants/demo/api/v1/namespaces/default")
    expect(answer.status).toBe(405)
    expect(JSON.parse(answer.text)).toMatchObject({ kind: "Status", reason: "MethodNotAllowed" })
  })
})

describe("kubectl says that a credential is rejected", () => {
  test.each([
    ["of another tenant", "other", "demo", "Unauthorized"],
    ["for a missing tenant", "demo", "nobody", "You must be logged in to the server"],
  ])("%s", async (_, kubeconfig, tenant, message) => {
    const server = `${up.url}/tenants/${tenant}`
    const { code, stderr } = await up.tryKubectl(["get", "namespaces", "--server", server], { kubeconfig })
    expect(code).toBe(1)
    expect(stderr).toContain(message)
  })
})
