// Mistakes that users make: the response is a clear error like that of Kubernetes, or one sentence and an exit code. Expired
// credentials are tested beside their source, where tests control the clock: gateway/authentication/*.test.ts.

import { generateKeyPairSync, sign } from "node:crypto"
import { mkdir, writeFile } from "node:fs/promises"
import { createServer, type AddressInfo } from "node:net"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { parse, stringify } from "yaml"
import { certificateOf, call } from "../harness/https.ts"
import { polyplane, startPolyplane, type Polyplane } from "../harness/polyplane.ts"

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
    const credential = certificateOf(await up.readKubeconfig("demo"))
    const answer = await call(up.url, {
      ...credential,
      method: "POST",
      path: "/tenants/demo/api/v1/namespaces/default/pods",
      body: JSON.stringify(object),
    })
    expect(answer.status).toBe(413)
    expect(JSON.parse(answer.text)).toMatchObject({ kind: "Status", reason: "RequestEntityTooLarge" })
    const created = await up.tryKubectl(["create", "--validate=false", "-f", "-"], { input: JSON.stringify(object) })
    expect(created.code).toBe(1)
    expect(created.stderr).toMatch(/too large/i)
  })

  test("invalid JSON is rejected with 400", async () => {
    const credential = certificateOf(await up.readKubeconfig("demo"))
    const request = { ...credential, method: "POST", path: "/tenants/demo/api/v1/namespaces/default/pods" }
    expect(await call(up.url, { ...request, body: '{"kind":' })).toMatchObject({ status: 400 })
    const other = { ...request, body: "<pod/>", headers: { "content-type": "text/xml" } }
    expect(await call(up.url, other)).toMatchObject({ status: 415 })
  })

  test("an unsupported method of a resource is rejected with 405", async () => {
    const credential = certificateOf(await up.readKubeconfig("demo"))
    const answer = await call(up.url, {
      ...credential,
      method: "POST",
      path: "/tenants/demo/api/v1/namespaces/default",
    })
    expect(answer.status).toBe(405)
    expect(JSON.parse(answer.text)).toMatchObject({ kind: "Status", reason: "MethodNotAllowed" })
  })
})

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

describe("a credential", () => {
  const namespaces = "/tenants/demo/api/v1/namespaces"
  const unauthorized = { kind: "Status", reason: "Unauthorized", message: "Unauthorized", code: 401 }
  const token = async (tenant: string) =>
    (await up.kubectl(["create", "token", "default"], { kubeconfig: tenant })).trim()

  async function refused(credential: object) {
    const answer = await call(up.url, { path: namespaces, ...credential })
    expect(answer.status).toBe(401)
    expect(JSON.parse(answer.text)).toMatchObject(unauthorized)
  }

  test("that is not a token is rejected", async () => {
    await refused({ token: "nonsense" })
    await refused({ token: "a.b.c" })
  })

  test("with another signature is rejected", async () => {
    const [header, payload] = (await token("demo")).split(".")
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
    const signature = sign("sha256", Buffer.from(`${header}.${payload}`), privateKey).toString("base64url")
    await refused({ token: `${header}.${payload}.${signature}` })
    await refused({ token: `${encode({ alg: "none", typ: "JWT" })}.${payload}.` })
  })

  test("with changed claims is rejected", async () => {
    const [header, payload = "", signature] = (await token("demo")).split(".")
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as object
    await refused({ token: `${header}.${encode({ ...claims, exp: 4_000_000_000 })}.${signature}` })
  })

  test("of another tenant is rejected: certificate and token", async () => {
    await refused({ token: await token("other") })
    await refused(certificateOf(await up.readKubeconfig("other")))
    const { code, stderr } = await up.tryKubectl(["get", "namespaces", "--server", `${up.url}/tenants/demo`], {
      kubeconfig: "other",
    })
    expect(code).toBe(1)
    expect(stderr).toContain("Unauthorized")
  })

  test("of a deleted tenant is rejected, also by a new tenant of the same name", async () => {
    expect(await up.cli(["tenant", "create", "brief"])).toMatchObject({ code: 0 })
    const old = certificateOf(await up.readKubeconfig("brief"))
    const path_ = "/tenants/brief/api/v1/namespaces"
    expect(await call(up.url, { ...old, path: path_ })).toMatchObject({ status: 200 })
    expect(await up.cli(["tenant", "delete", "brief"])).toMatchObject({ code: 0 })
    expect(await call(up.url, { ...old, path: path_ })).toMatchObject({ status: 401 })
    expect(await up.cli(["tenant", "create", "brief"])).toMatchObject({ code: 0 })
    expect(await call(up.url, { ...old, path: path_ })).toMatchObject({ status: 401 })
  })

  test("for another audience is rejected", async () => {
    const elsewhere = await up.kubectl(["create", "token", "default", "--audience=elsewhere"])
    await refused({ token: elsewhere.trim() })
  })

  test("for a missing tenant is rejected", async () => {
    const { code, stderr } = await up.tryKubectl(["get", "pods", "--server", `${up.url}/tenants/nobody`])
    expect(code).toBe(1)
    expect(stderr).toContain("You must be logged in to the server")
  })
})

describe("polyplane fails with one sentence on", () => {
  async function fails(args: readonly string[], code: number, sentence: string | RegExp) {
    const output = await polyplane(args)
    // Progress lines begin with an ellipsis. The rest is the error message, and a hint after invalid flags.
    const lines = output.stderr.split("\n").filter((line) => line !== "" && !line.startsWith("…"))
    expect(lines[0]).toMatch(sentence)
    expect(lines[0]).toMatch(/^polyplane: /)
    expect(lines).toHaveLength(code === 2 ? 2 : 1)
    expect(output).toMatchObject({ code, stdout: "" })
  }

  const directory = (name: string) => up.path(name)

  test("unknown commands and flags", async () => {
    await fails(["upp"], 2, 'there is no command "upp"')
    await fails(["up", "--prot", "1"], 2, "'--prot'")
    await fails(["up", "--port", "none"], 2, '--port must be a whole number from 0 to 65535, not "none"')
    await fails(["tenant", "make"], 2, 'there is no "polyplane tenant make"')
    await fails(["tenant", "create"], 2, "needs the tenant's name")
  })

  test("a busy port", async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    try {
      await fails(["up", "--port", String(port), "--data-dir", directory("port")], 1, new RegExp(`${port}.*in use`))
    } finally {
      server.close()
    }
  })

  test("a data directory in use", async () => {
    await fails(["up", "--port", "0", "--data-dir", up.dataDir], 1, /data directory ".*" is in use by another process/)
    expect(await up.kubectl(["get", "namespaces"])).toContain("default")
  })

  test("a data directory of a newer format", async () => {
    await mkdir(directory("newer"))
    await writeFile(path.join(directory("newer"), "format"), '{"format": 99}\n')
    await fails(["up", "--port", "0", "--data-dir", directory("newer")], 1, "written by a newer version of polyplane")
  })

  test("a data directory that is a file", async () => {
    await writeFile(directory("file"), "")
    await fails(["up", "--port", "0", "--data-dir", directory("file")], 1, "is not a directory")
  })

  test("a data directory that is not writable", async () => {
    const closed = directory("closed")
    await mkdir(closed, { mode: 0o500 })
    // root can access any directory regardless of its mode, except the kernel's own.
    const target = process.getuid?.() === 0 ? "/sys/kernel" : closed
    await fails(["up", "--port", "0", "--data-dir", path.join(target, "data")], 1, "is not writable")
  })

  test("an unavailable super cluster", async () => {
    const file = directory("dead.kubeconfig")
    const kubeconfig = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "dead",
      clusters: [{ name: "dead", cluster: { server: "https://127.0.0.1:1" } }],
      contexts: [{ name: "dead", context: { cluster: "dead", user: "dead" } }],
      users: [{ name: "dead", user: { token: "x" } }],
    }
    await writeFile(file, stringify(kubeconfig))
    const args = ["up", "--port", "0", "--data-dir", directory("dead")]
    await fails([...args, "--super-kubeconfig", file], 1, /super cluster of .*dead\.kubeconfig does not answer/)
    await fails([...args, "--super-kubeconfig", directory("missing")], 1, /missing/)
    await writeFile(file, "not: [a kubeconfig")
    await fails([...args, "--super-kubeconfig", file], 1, /dead\.kubeconfig/)
    await fails(["tenant", "list", "--kubeconfig", directory("missing")], 1, /^polyplane: kubeconfig .*missing: ENOENT/)
  })

  test("invalid, existing or missing tenants", async () => {
    const data = ["--data-dir", up.dataDir]
    await fails(["tenant", "create", "Bad_Name", ...data], 1, /Bad_Name/)
    await fails(["tenant", "create", "demo", ...data], 1, 'tenant "demo" already exists')
    await fails(
      ["tenant", "create", "fine", "--cluster-version", "none", "--timeout", "2", ...data],
      1,
      'there is no ClusterVersion "none"',
    )
    await up.kubectl(["create", "namespace", "elsewhere"], { kubeconfig: "admin" })
    await fails(["tenant", "create", "demo", "--namespace", "elsewhere", ...data], 1, 'VirtualCluster "default/demo"')
    const left = await up.kubectl(["get", "virtualclusters", "-n", "elsewhere", "-o", "name"], { kubeconfig: "admin" })
    expect(left).toBe("")
    await fails(["tenant", "kubeconfig", "nobody", ...data], 1, 'there is no tenant "nobody"')
    await fails(["tenant", "delete", "nobody", ...data], 1, 'there is no tenant "nobody"')
    await fails(["tenant", "list", "--data-dir", directory("none")], 1, "does not exist")
    await fails(["tenant", "kubeconfig", "demo", "--output", "/proc/none", ...data], 1, "ENOENT")
  })

  test("a super cluster that cannot be used", async () => {
    const tenantList = (file: string, message: string) => fails(["tenant", "list", "--kubeconfig", file], 1, message)
    await tenantList(
      up.kubeconfig("demo"),
      "serves no VirtualClusters; is it the super cluster, with Polyplane installed?",
    )
    const config = parse(await up.readKubeconfig("admin")) as Record<"users" | "clusters", { name: string }[]>
    const [{ name: userName } = { name: "" }] = config.users
    const [{ name: clusterName } = { name: "" }] = config.clusters
    const [user, stopped] = [directory("user.kubeconfig"), directory("stopped")]
    await writeFile(user, stringify({ ...config, users: [{ name: userName, user: { token: "none" } }] }))
    const refused = `refuses the credentials of ${user}; they may have expired or been replaced`
    await tenantList(user, refused)
    const start = ["up", "--port", "0", "--data-dir", directory("refused"), "--super-kubeconfig", user]
    await fails(start, 1, refused)
    const token = (await up.kubectl(["create", "token", "default"], { kubeconfig: "admin" })).trim()
    await writeFile(user, stringify({ ...config, users: [{ name: userName, user: { token } }] }))
    await fails(
      start,
      1,
      /does not permit this to the user of .* \(manifests\/rbac lists what is needed\): \w+ is forbidden/,
    )
    await writeFile(user, stringify({ ...config, clusters: [{ name: clusterName, cluster: { server: up.url } }] }))
    await fails(start, 1, /does not answer: .*: its certificate is not of the authority that the client trusts$/)
    const nowhere = [{ name: clusterName, cluster: { server: "https://127.0.0.1:1" } }]
    await mkdir(stopped)
    await writeFile(path.join(stopped, "admin.kubeconfig"), stringify({ ...config, clusters: nowhere }))
    const message = /the super cluster of .* does not answer: .*ECONNREFUSED.*; is `polyplane up` running\?/
    await fails(["tenant", "create", "a", "--data-dir", stopped], 1, message)
  })
})
