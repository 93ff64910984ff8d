// The configuration files of the parts: those of manifests/ are valid, and errors are reported.

import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest"
import { parseAllDocuments, stringify } from "yaml"
import type { ConfigMap } from "../../apimachinery/object.ts"
import { eventually } from "../../test/harness/eventually.ts"
import { freePorts } from "../../test/harness/ports.ts"
import { collect, start } from "../../test/harness/processes.ts"
import { UserError } from "../command.ts"
import { gateway } from "./gateway.ts"
import { operator } from "./operator.ts"
import { syncer } from "./syncer.ts"
import { vnAgent } from "./vn-agent.ts"

const parts = { gateway, syncer, operator, "vn-agent": vnAgent }
type Name = keyof typeof parts

const main = path.join(import.meta.dirname, "../main.ts")
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "polyplane-config-"))
})
afterAll(() => rm(directory, { recursive: true, force: true }))
afterEach(() => vi.unstubAllEnvs())

/** The error that the part prints instead of starting. */
async function refusal(name: Name, content: string): Promise<string> {
  const file = path.join(directory, `${name}.yaml`)
  await writeFile(file, content)
  const error: unknown = await parts[name].run(["--config", file]).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(UserError)
  return (error as UserError).message.replaceAll(`${directory}/`, "")
}

/** The file that manifests/ mounts at /etc/polyplane in the part's pods. */
async function manifestConfig(name: Name): Promise<string> {
  const manifest = path.join(import.meta.dirname, `../../manifests/${name}.yaml`)
  const objects = parseAllDocuments(await readFile(manifest, "utf8")).map((each) => each.toJS() as ConfigMap)
  const content = objects.find(({ kind }) => kind === "ConfigMap")?.data?.[`${name}.yaml`]
  expect(content).toBeDefined()
  return content ?? ""
}

// It runs on every node: what it may list, whoever takes over one node may list, too.
test("a vn-agent may read pods one by one, and nothing else", async () => {
  const file = path.join(import.meta.dirname, "../../manifests/rbac/vn-agent.yaml")
  const rules = parseAllDocuments(await readFile(file, "utf8")).map(
    (each) => (each.toJS() as { rules?: object[] }).rules,
  )
  expect(rules.flatMap((some) => some ?? [])).toEqual([{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }])
})

describe("the configuration in manifests/", () => {
  test.for(Object.keys(parts) as Name[])(
    "is read by the %s, which reports that it is outside of a cluster",
    async (name) => {
      vi.stubEnv("KUBERNETES_SERVICE_HOST", undefined)
      vi.stubEnv("NODE_NAME", "node-1")
      expect(await refusal(name, await manifestConfig(name))).toBe(
        "no super cluster: superKubeconfig is not set, and not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set",
      )
    },
  )
})

describe("invalid configurations are reported", () => {
  const agent = "{identityKeys: a, certificate: b, key: c, kubelet: {certificateAuthority: d, certificate: e, key: f}}"

  test.for<[Name, string, string]>([
    ["gateway", "", `field "dataDir" is missing, and there is no "etcd"`],
    ["gateway", "{dataDir: a, etcd: {servers: ['http://b:1']}}", `"dataDir" and "etcd" both say`],
    ["gateway", "{etcd: {servers: [b]}}", `field "etcd.servers[0]" must be a URL like https://10.0.0.1:2379, not "b"`],
    ["gateway", "{etcd: {servers: ['http://b:1'], key: c}}", "a certificate for etcd needs its key"],
    [
      "gateway",
      "{dataDir: a, datadir: b}",
      `gateway.yaml: there is no field "datadir"; known are adminKubeconfigSecret,`,
    ],
    ["gateway", "{dataDir: a, publicUrl: http://b}", `field "publicUrl" must be an https:// URL, not "http://b"`],
    ["gateway", "{dataDir: a, identitySecret: b}", `field "identitySecret" must be NAMESPACE/NAME, not "b"`],
    ["gateway", "{dataDir: a, port: 65536}", `field "port" must be a whole number from 0 to 65535, not 65536`],
    ["gateway", "{dataDir: a, advertiseAddress: b}", `field "advertiseAddress" must be an IP address, not "b"`],
    ["gateway", "{dataDir: a, domain: b c}", `field "domain" must be a DNS name like tenants.example.com, not "b c"`],
    ["gateway", "{dataDir: a, hostNames: b}", `field "hostNames" must be a list, not "b"`],
    ["gateway", "{dataDir: a, logLevel: b}", `field "logLevel" must be one of trace, debug,`],
    ["gateway", "{dataDir: a, superKubeconfig: gone}", "kubeconfig gone: ENOENT"],
    ["syncer", "", `syncer.yaml: field "gatewayKubeconfig" is missing`],
    [
      "syncer",
      "{gatewayKubeconfig: a, publishNodes: some}",
      `field "publishNodes" must be one of all, used, not "some"`,
    ],
    ["syncer", "{gatewayKubeconfig: a, externalIPs: yes}", `field "externalIPs" must be one of allow, deny, not true`],
    ["syncer", "{gatewayKubeconfig: a, networkPolicies: no}", `field "networkPolicies" must be one of allow, deny`],
    ["operator", "{gatewayKubeconfig: [a]}", `operator.yaml: field "gatewayKubeconfig" must be a text, not ["a"]`],
    ["operator", "{gatewayKubeconfig: a, vnAgentPort: 1}", `there is no field "vnAgentPort"`],
    ["vn-agent", agent, `vn-agent.yaml: field "node" is missing, and NODE_NAME is not set`],
    ["vn-agent", "{node: a, identityKeys: a, certificate: b, key: c}", `field "kubelet" is missing`],
    ["vn-agent", agent.replace("f}", "f, ca: g}").replace("{", "{node: a, "), `there is no field "kubelet.ca"`],
  ])("%s: %s", async ([name, content, message]) => {
    vi.stubEnv("NODE_NAME", undefined)
    expect(await refusal(name, content)).toContain(message)
  })
})

describe("the help of a part", () => {
  const required: Record<Name, string> = {
    gateway: "dataDir: a",
    syncer: "gatewayKubeconfig: a",
    operator: "gatewayKubeconfig: a",
    "vn-agent": "node: a, identityKeys: a, certificate: b, key: c",
  }

  /** The names under this one ("" for the whole file) that the error about an unknown name lists. */
  const known = async (name: Name, parent: string): Promise<string[]> => {
    const content = parent === "" ? "nonsense: 1" : `{${required[name]}, ${parent}: {nonsense: 1}}`
    return (await refusal(name, content)).split("known are ")[1]?.split(", ") ?? []
  }

  /** The fields that the lines name, such as "port:" or "certificate, key", and under each those of the lines that follow it. */
  function fieldsOf(help: string): Map<string, string[]> {
    const fields = new Map<string, string[]>()
    let nested: string[] = []
    for (const line of (help.split("Fields:\n\n")[1] ?? "").split("\n\n")[0]?.split("\n") ?? []) {
      const indent = line.search(/\S/)
      if (indent !== 2 && indent !== 4) continue
      const [first = "", second = ""] = line.slice(indent).split(" ")
      const names = (first.endsWith(",") ? [first, second] : [first]).map((name) => name.replace(/[,:]$/, ""))
      if (indent === 4) nested.push(...names)
      else for (const name of names) fields.set(name, (nested = []))
    }
    return fields
  }

  test.for(Object.keys(parts) as Name[])("of %s lists all fields of its configuration", async (name) => {
    const fields = fieldsOf(parts[name].help)
    expect([...fields.keys()].sort()).toEqual(await known(name, ""))
    for (const [parent, nested] of fields)
      if (nested.length > 0) expect(nested.sort(), parent).toEqual(await known(name, parent))
  })
})

describe("a part without a reachable gateway", () => {
  test.for(["syncer", "operator"])(
    "%s is live but not ready while it waits, and exits with 0 on SIGTERM",
    async (name) => {
      const nowhere = stringify({
        kind: "Config",
        "current-context": "c",
        contexts: [{ name: "c", context: { cluster: "c", user: "c" } }],
        clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
        users: [{ name: "c", user: { token: "t" } }],
      })
      await writeFile(path.join(directory, "nowhere"), nowhere)
      const file = path.join(directory, `waiting-${name}.yaml`)
      const [port] = await freePorts(1)
      await writeFile(
        file,
        `{gatewayKubeconfig: nowhere, superKubeconfig: nowhere, health: {host: 127.0.0.1, port: ${port}}}`,
      )
      const child = start(process.execPath, [main, name, "--config", file], { stdio: "pipe" })
      const stdout = collect(child.stdout)
      const stderr = collect(child.stderr)
      const closed = once(child, "close")
      await eventually(() => child.exitCode !== null || stderr().includes("the gateway is unavailable"))
      const codeOf = async (name: string) => (await fetch(`http://127.0.0.1:${port}/${name}`)).status
      expect([await codeOf("livez"), await codeOf("readyz")]).toEqual([200, 503])
      child.kill("SIGTERM")
      expect([(await closed)[0], stdout()]).toEqual([0, ""])
    },
  )
})
