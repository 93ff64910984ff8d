// The command line as a process: its output and its exit codes.

import { once } from "node:events"
import { mkdtemp, mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { Gateway } from "../gateway/main.ts"
import { silentLog } from "../client/log.ts"
import { collect, run, start } from "../test/harness/processes.ts"
import { check } from "./check.ts"
import { UsageError } from "./command.ts"
import { gateway } from "./parts/gateway.ts"
import { operator } from "./parts/operator.ts"
import { syncer } from "./parts/syncer.ts"
import { vnAgent } from "./parts/vn-agent.ts"
import { tenant } from "./tenant/command.ts"
import { up } from "./up/command.ts"

const main = path.join(import.meta.dirname, "polyplane.mjs")
let directory: string

/** Runs in its own directory, so that it finds no `.polyplane`. */
const polyplane = (...args: string[]) =>
  run(process.execPath, [main, ...args], { cwd: directory, env: { PATH: process.env["PATH"], HOME: directory } })

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "polyplane-cli-"))
  // As little can be told of what is behind it as of a directory that this user may not read, also by root.
  await symlink("loop", path.join(directory, "loop"))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const subcommands = "known are create, list, get, delete, kubeconfig, token"
const commands = { up, tenant, gateway, syncer, "vn-agent": vnAgent, operator, check }

describe("polyplane", () => {
  test.for(["--help", "-h", "help"])("%s lists all commands", async (flag) => {
    const { code, stdout, stderr } = await polyplane(flag)
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    for (const name of Object.keys(commands)) expect(stdout).toMatch(new RegExp(`^  ${name} +\\S`, "m"))
  })

  test("without a command lists the commands and fails", async () => {
    const { code, stdout } = await polyplane()
    expect(code).toBe(2)
    expect(stdout).toContain("usage: polyplane COMMAND")
  })

  test("names a command that does not exist", async () => {
    expect(await polyplane("fly")).toEqual({
      code: 2,
      stdout: "",
      stderr: `polyplane: there is no command "fly"\nTry: polyplane --help\n`,
    })
  })

  test.for(["--version", "version"])("%s names the versions of polyplane, the API and Node", async (flag) => {
    const { code, stdout } = await polyplane(flag)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^polyplane \d+\.\d+\.\d+, Kubernetes API v1\.36\.\d+, Node v24\.\d+\.\d+\n$/)
  })

  test("help with a command prints the help of the command", async () => {
    expect(await polyplane("help", "check")).toEqual({ code: 0, stdout: check.help, stderr: "" })
  })

  test("a Node that is too old is told which one is needed", async () => {
    const older = `data:text/javascript,Object.defineProperty(process,"version",{value:"v20.20.2"})`
    const { code, stdout, stderr } = await run(process.execPath, ["--import", older, main, "--help"])
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toMatch(/^polyplane: Node 24 or newer is needed, but this is v20\.20\.2 \(.*\)\.\n.*\n$/)
  })

  test("reports invalid flags and refers to --help", async () => {
    expect(await polyplane("gateway")).toEqual({
      code: 2,
      stdout: "",
      stderr: "polyplane: polyplane gateway needs --config FILE\nTry: polyplane gateway --help\n",
    })
  })

  test("an unreachable cluster is reported in one sentence", async () => {
    const { code, stderr } = await polyplane("tenant", "list")
    expect(code).toBe(1)
    expect(stderr).toMatch(/^polyplane: no super cluster found: .*\n$/)
  })

  test.concurrent.for([["list"], ["get", "a"], ["token", "a"], ["delete", "a"]])(
    "tenant %j says that it waits for a super cluster that is silent",
    async (args, { expect }) => {
      const silent = createServer()
      await once(silent.listen(0, "127.0.0.1"), "listening")
      const { port } = silent.address() as AddressInfo
      const kubeconfig = path.join(directory, `silent-${args[0]}`)
      const context = { contexts: [{ name: "a", context: { cluster: "a" } }], "current-context": "a" }
      const clusters = [{ name: "a", cluster: { server: `https://127.0.0.1:${port}` } }]
      await writeFile(kubeconfig, JSON.stringify({ kind: "Config", ...context, clusters }))
      const child = start(process.execPath, [main, "tenant", ...args, "--kubeconfig", kubeconfig], {
        env: { PATH: process.env["PATH"], HOME: directory },
      })
      const stderr = collect(child.stderr)
      try {
        await expect.poll(stderr).toMatch(/^… .* tenants?( "a")? \(\d+ s\)\n/)
      } finally {
        child.kill()
        await once(child, "exit")
        silent.close()
      }
    },
  )

  test("a data directory that cannot be looked into is not taken for an absent one", async () => {
    expect(await polyplane("tenant", "list", "--data-dir", "loop")).toEqual({
      code: 1,
      stdout: "",
      stderr: "polyplane: ELOOP: too many symbolic links encountered, stat 'loop/admin.kubeconfig'\n",
    })
  })

  test.for<[string[], string]>([
    [
      ["up", "--data-dir", "data", "--storage", "etcd", "--etcd-servers", "https://127.0.0.1:1", "--etcd-ca", main],
      `${main}: the certificate authority cannot be used: `,
    ],
    [["up", "--data-dir", "/proc/none"], `the data directory "/proc/none" cannot be used: ENOENT`],
    [["up", "--data-dir", "/dev/null/x"], `the data directory "/dev/null/x" is not a directory`],
    [["up", "--data-dir", "data", "--super-kubeconfig", "none"], "none: ENOENT: no such file or directory"],
    [
      ["up", "--data-dir", "data", "--tenants", "a.b"],
      `tenant "a.b" cannot be created: VirtualCluster.tenancy.x-k8s.io "a.b"`,
    ],
  ])("%j cannot start: %s", async ([args, message]) => {
    const { code, stderr } = await polyplane(...args, "--port", "0")
    expect(code).toBe(1)
    // Slow machines report progress first.
    expect(stderr.replaceAll(/^… .*\n/gm, "")).toMatch(/^polyplane: .*\n$/)
    expect(stderr).toContain(message)
  })
})

describe("a command", () => {
  test.for(Object.entries(commands))("%s lists its flags", async ([name, command]) => {
    const write = vi.spyOn(process.stdout, "write").mockReturnValue(true)
    try {
      expect(await command.run(["--help"])).toBe(0)
      expect(write.mock.calls.join("")).toBe(command.help)
    } finally {
      write.mockRestore()
    }
    expect(command.help).toMatch(new RegExp(`^usage: polyplane ${name} `))
    expect(command.help).toMatch(/^ +--[a-z-]+ [A-Z]+ /m)
  })

  test.for<[keyof typeof commands, string[], string]>([
    ["up", ["--nodez", "3"], "Unknown option '--nodez'"],
    ["up", ["--nodes", "many"], `--nodes must be a whole number from 1 to 100, not "many"`],
    ["up", ["--workers", "0"], `--workers must be a whole number from 1 to 64, not "0"`],
    [
      "up",
      ["--workers", "2", "--storage", "etcd", "--etcd-servers", "http://127.0.0.1:1"],
      "--workers cannot be used with --storage etcd: start several gateways that share the etcd instead",
    ],
    ["up", ["--workers", "1000"], `--workers must be a whole number from 1 to 64, not "1000"`],
    ["up", ["--port", "70000"], `--port must be a whole number from 0 to 65535, not "70000"`],
    ["up", ["--log-level", "loud"], "--log-level must be one of trace, debug, info, warn, error, fatal, silent"],
    ["up", ["--storage", "disk"], `--storage must be level or etcd, not "disk"`],
    ["up", ["--storage", "etcd"], "--storage etcd needs --etcd-servers"],
    ["up", ["--etcd-prefix", "/a"], "--etcd-prefix needs --storage etcd"],
    [
      "up",
      ["--storage", "etcd", "--etcd-servers", "localhost:2379"],
      `--etcd-servers must be URLs like https://10.0.0.1:2379, not "localhost:2379"`,
    ],
    ["up", ["--allow-network", "here"], `--allow-network must be a network like 10.1.0.0/16, not "here"`],
    ["up", ["--advertise-address", "localhost"], `--advertise-address must be an IP address, not "localhost"`],
    ["up", ["--domain", "a b"], `--domain must be a DNS name like tenants.example.com, not "a b"`],
    ["up", ["now"], `polyplane up takes no arguments, but got "now"`],
    ["gateway", [], "polyplane gateway needs --config FILE"],
    ["syncer", ["--config"], "Option '--config <value>' argument missing"],
    ["operator", ["--config", "x", "y"], `polyplane operator takes no arguments, but got "y"`],
    ["tenant", [], `polyplane tenant needs a subcommand; ${subcommands}`],
    ["tenant", ["sell"], `there is no "polyplane tenant sell"; ${subcommands}`],
    ["tenant", ["list", "a"], "too many arguments: a"],
    ["tenant", ["list", "--timeout", "3"], "polyplane tenant list has no flag --timeout"],
    ["tenant", ["get", "a", "-o", "yaml"], "polyplane tenant get has no flag --output"],
    ["tenant", ["create"], "polyplane tenant create needs the tenant's name"],
    ["tenant", ["get", "a", "b"], "too many arguments: b"],
    ["tenant", ["delete", ""], "polyplane tenant delete needs the tenant's name"],
    // Before the first request: the tenant would have been deleted.
    [
      "tenant",
      ["delete", "a", "--kubeconfig", "none", "--timeout", "x"],
      `--timeout must be a whole number from 1 to 3600, not "x"`,
    ],
    [
      "tenant",
      ["token", "a", "--kubeconfig", "none", "--service-account", "default/"],
      `--service-account must be NAMESPACE/NAME, not "default/"`,
    ],
    ["up", ["--host", ""], "--host must not be empty"],
    ["check", ["here"], `polyplane check takes no arguments, but got "here"`],
  ])("%s %j is a usage error: %s", async ([name, args, message]) => {
    await expect(commands[name].run(args)).rejects.toThrow(new UsageError(message))
  })
})

describe("polyplane check", () => {
  const startGateway = (dataDir: string) => Gateway.start({ dataDir, superCluster: true, log: silentLog })
  const checked = (dataDir: string) => polyplane("check", "--data-dir", dataDir)

  test("finds no faults after a gateway has stopped, and fails while it runs", async () => {
    const dataDir = path.join(directory, "sound")
    {
      await using running = await startGateway(dataDir)
      await running.tenants.create({
        name: "demo",
        virtualCluster: { namespace: "default", name: "demo", uid: "u" },
        clusterKey: "default-demo",
        clusterDomain: "cluster.local",
        transparentMetaPrefixes: [],
        opaqueMetaPrefixes: [],
        controllers: true,
      })
      expect(await checked(dataDir)).toEqual({
        code: 1,
        stdout: "",
        stderr: `polyplane: the data directory "${dataDir}" is in use by another process. Stop that process, or choose another directory\n`,
      })
    }
    expect(await checked(dataDir)).toEqual({ code: 0, stdout: "3 stores, no faults\n", stderr: "" })
  })

  test("names the store of each fault", async () => {
    const dataDir = path.join(directory, "damaged")
    await (await startGateway(dataDir))[Symbol.asyncDispose]()
    const store = path.join(dataDir, "stores", "super")
    const [manifest = ""] = (await readdir(store)).filter((file) => file.startsWith("MANIFEST"))
    await writeFile(path.join(store, manifest), "nonsense")
    await mkdir(path.join(dataDir, "stores", "stray"))
    const { code, stdout } = await checked(dataDir)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^store stray: it belongs to no tenant$/m)
    expect(stdout).toMatch(/^super cluster: .*damaged.*$/m)
    expect(stdout).toMatch(/^3 stores, \d faults\n$/m)
  })

  test.for<[string, string]>([
    ["none", 'the data directory "none" does not exist'],
    [".", '"." is not a data directory of polyplane'],
    ["loop", `the data directory "loop" cannot be used: ELOOP: too many symbolic links encountered, stat 'loop'`],
  ])("%s: %s", async ([dataDir, message]) => {
    expect(await checked(dataDir)).toEqual({ code: 1, stdout: "", stderr: `polyplane: ${message}\n` })
  })
})
