// Mistakes in commands, and what a command finds: one sentence and an exit code.

import { mkdir, writeFile } from "node:fs/promises"
import { createServer, type AddressInfo } from "node:net"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { parse, stringify } from "yaml"
import { polyplane, startPolyplane, type Polyplane } from "../harness/polyplane.ts"

let up: Polyplane

beforeAll(async () => {
  up = await startPolyplane({ args: ["--tenants", "demo"] })
})

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
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
