// Runs the commands of README.md and of guides, one after the other, as a user types them: terminal 1 keeps running, terminal
// 2 is one shell. Only the port differs from the default, which may be in use.

import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { eventually } from "../harness/eventually.ts"
import { repository } from "../harness/polyplane.ts"
import { collect, start } from "../harness/processes.ts"

interface Line {
  terminal: string
  command: string
}

/** Lines of the blocks marked sh; the first line of a block may name its terminal. */
function linesOf(document: string): Line[] {
  const blocks = [...readFileSync(path.join(repository, document), "utf8").matchAll(/^```sh\n(.*?)^```$/gms)]
  return blocks.flatMap(([, block = ""]) => {
    const lines = commandsOf(block)
    const terminal = /^# (terminal \d)$/.exec(lines[0] ?? "")?.[1]
    return lines
      .slice(terminal === undefined ? 0 : 1)
      .map((command) => ({ terminal: terminal ?? "terminal 2", command }))
  })
}

/** One for each line, or for several up to the end of a here-document. */
function commandsOf(block: string): string[] {
  const commands: string[] = []
  let end: string | undefined
  for (const line of block.trimEnd().split("\n")) {
    if (end === undefined) commands.push(line)
    else commands.push(`${commands.pop() ?? ""}\n${line}`)
    end = line === end ? undefined : (end ?? /<<(\w+)$/.exec(line)?.[1])
  }
  return commands
}

/** An interactive shell. */
class Terminal {
  readonly #shell: ChildProcess
  readonly #stdout: () => string
  readonly #stderr: () => string
  #count = 0

  constructor(directory: string) {
    // In its own process group, so that the processes it leaves running end with it.
    this.#shell = start("bash", ["--noprofile", "--norc"], {
      cwd: directory,
      env: { ...process.env, HOME: directory, KUBECACHEDIR: path.join(directory, "cache") },
      stdio: "pipe",
      group: true,
    })
    this.#stdout = collect(this.#shell.stdout)
    this.#stderr = collect(this.#shell.stderr)
  }

  type(command: string): void {
    this.#shell.stdin?.write(`${command}\n`)
  }

  /** Runs the command and waits for its end; throws with its output if the exit code is not 0. */
  async run(command: string): Promise<string> {
    const begin = this.#stdout().length
    const mark = `end-of-line-${++this.#count}`
    this.type(command)
    this.type(`echo "${mark} $?"`)
    const pattern = new RegExp(`^${mark} (\\d+)$`, "m")
    const [, code] = await eventually(() => pattern.exec(this.#stdout()) ?? undefined, {
      timeoutMs: 60_000,
      what: `the end of \`${command}\``,
    })
    const printed = this.#stdout().slice(begin).replace(pattern, "")
    if (code !== "0") throw new Error(`\`${command}\` exited with ${code}:\n${printed}${this.#stderr()}`)
    return printed
  }

  get printed(): string {
    return this.#stdout() + this.#stderr()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#shell.pid === undefined || this.#shell.exitCode !== null) return
    const closed = once(this.#shell, "close")
    process.kill(-this.#shell.pid, "SIGTERM")
    await closed
  }
}

/** A directory like a fresh clone, without local files of the real one. */
function clone(): string {
  const directory = mkdtempSync(path.join(tmpdir(), "polyplane-readme-"))
  for (const name of readdirSync(repository)) {
    if (name !== ".polyplane") symlinkSync(path.join(repository, name), path.join(directory, name))
  }
  return directory
}

let directory: string
let first: Terminal
let second: Terminal

beforeAll(() => {
  directory = clone()
  first = new Terminal(directory)
  second = new Terminal(directory)
})

afterAll(async () => {
  await second?.[Symbol.asyncDispose]()
  await first?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

const expected: [RegExp, RegExp][] = [
  [/^kubectl create deployment/, /created/],
  [/^kubectl rollout status/, /successfully rolled out/],
  [/^kubectl get pods -o wide/, /(1\/1 +Running[^]*){3}/],
  [/^kubectl get nodes/, / Ready /],
  [/^kubectl exec .*hostname/, /^web-/],
  [/^kubectl .*get virtualclusters/, /virtualcluster\.\S+\/demo[^]*(pod\/web-[^]*){3}service\/web/],
  [/^npx polyplane tenant create/, /is ready/],
  [/team-b\.kubeconfig get ns/, /kube-system/],
  [/--token .* get deployments/, /web +3\/3/],
  [/logs job/, /^passed$/m],
  [/can-i delete/, /as it should be/],
  [/^kubectl apply --kustomize manifests/, /statefulset\.apps\/gateway created/],
  [/^kubectl wait csr/, /condition met/],
  [/^until kubectl get events/, /FailedCreate.*host namespaces are forbidden/],
]

/** The super cluster of a guide may be any cluster, such as a tenant. */
const anyCluster = "export KUBECONFIG=.polyplane/tenants/demo.kubeconfig"

describe.each([
  ["README.md"],
  ["docs/guides/from-ci.md"],
  ["docs/guides/installation.md", anyCluster],
  ["docs/guides/security.md", anyCluster],
])("%s", (document, before = ":") => {
  beforeAll(async () => {
    await second.run(before)
  })

  const lines = linesOf(document)

  test("contains commands", () => {
    expect(lines.length).toBeGreaterThan(3)
  })

  test.each(lines)("$command", { timeout: 90_000 }, async ({ terminal, command }) => {
    if (terminal === "terminal 1") {
      expect(command).toBe("npm start")
      first.type("npm start -- --port 0")
      await eventually(() => /^polyplane is ready in \d+ ms/m.test(first.printed), {
        timeoutMs: 60_000,
        what: `polyplane ready (it printed ${first.printed})`,
      })
      return
    }
    const printed = await second.run(command)
    for (const [of, pattern] of expected) if (of.test(command)) expect(printed).toMatch(pattern)
  })
})
