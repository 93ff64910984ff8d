// Runs functions of upstream's bash suite (test/cmd of k8s.io/kubernetes), unmodified out of the module cache, against one
// server. What surrounds them is run-functions.sh.

import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdir, readdir, readFile, rm, symlink } from "node:fs/promises"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { stripVTControlCharacters } from "node:util"
import { programsOfGo } from "../../harness/environment.ts"
import { temporaryFolder } from "../../harness/folders.ts"
import { collect, run, start } from "../../harness/processes.ts"
import { binaryPath } from "../build/cache.ts"
import { Front, type Fronted } from "./front.ts"

/** Where the scripts are, once the module is in Go's cache. */
const module = "k8s.io/kubernetes"
const pinnedBy = fileURLToPath(new URL("../modules/kubernetes", import.meta.url))
const script = fileURLToPath(new URL("run-functions.sh", import.meta.url))
const listTimeoutMs = 60_000
const programs = ["bash", "curl", "jq", "openssl", "script", "tput"]

export interface Outcome {
  passed: boolean
  /** What it printed, without colours. */
  output: string
}

/** By the name of the function. Of one that was not come to: what was printed until the end, which says why. */
export type Outcomes = ReadonlyMap<string, Outcome>

/** The folder with upstream's source; why there is none, otherwise. */
export async function findSource(): Promise<{ folder: string } | { missing: string }> {
  const absent = programs.filter((name) => !isOnPath(name))
  if (absent.length > 0) return { missing: `${absent.join(", ")}: not installed` }
  const env = { ...process.env, GOWORK: "off", GOFLAGS: "-mod=readonly" }
  const options = { cwd: pinnedBy, env, timeoutMs: listTimeoutMs }
  if (!isOnPath("go")) return { missing: "go: not installed; it knows where the source of Kubernetes is" }
  const { stdout, stderr } = await run("go", ["list", "-m", "-f", "{{.Dir}}", module], options)
  const folder = stdout.trim()
  return folder === "" ? { missing: `${module} is not in Go's module cache ${stderr.trim()}` } : { folder }
}

function isOnPath(program: string): boolean {
  return (process.env["PATH"] ?? "").split(path.delimiter).some((folder) => existsSync(path.join(folder, program)))
}

/** One after the other. Without any of its own, `runTests` is what upstream checks between them. */
export async function runFunctions(
  source: string,
  target: Fronted,
  functions: readonly string[],
  timeoutMs: number,
): Promise<Outcomes> {
  await using stack = new AsyncDisposableStack()
  const folder = await temporaryFolder("polyplane-test-cmd")
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  // Of 127.0.0.1, by whose name a script recognizes that certificates of clients are asked for.
  const announced = await readFile(path.join(source, "hack/testdata/ca/ca.crt"), "utf8")
  const front = stack.use(await Front.start(target, [announced]))
  const [work, temporary] = ["source", "temporary"].map((name) => path.join(folder, name)) as [string, string]
  await mkdir(temporary)
  await linkTo(source, work)
  const env = {
    ...programsOfGo,
    PATH: process.env["PATH"],
    TERM: "xterm",
    SECURE_API_PORT: String(front.port),
    PROGRAMS: path.dirname(binaryPath("kubectl")),
    KUBE_TEMP: temporary,
    TMPDIR: temporary,
    KUBE_JUNIT_REPORT_DIR: path.join(folder, "reports"),
    // The server's version is not to the letter that of kubectl.
    ALLOW_SKEW: "true",
  }
  return await execute(functions, { cwd: work, env, timeoutMs })
}

/** Scripts write into the working directory. */
async function linkTo(source: string, folder: string): Promise<void> {
  await mkdir(folder)
  const names = await readdir(source)
  await Promise.all(names.map((name) => symlink(path.join(source, name), path.join(folder, name))))
}

interface Execution {
  cwd: string
  env: NodeJS.ProcessEnv
  timeoutMs: number
}

async function execute(functions: readonly string[], { cwd, env, timeoutMs }: Execution): Promise<Outcomes> {
  const child = start("bash", [script, ...functions], { cwd, env, stdio: ["ignore", "pipe", "inherit"], group: true })
  const output = collect(child.stdout)
  const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"), timeoutMs)
  await once(child, "close")
  clearTimeout(timer)
  return readOutcomes(functions, stripVTControlCharacters(output()))
}

/** As record_command and its juLog print them. */
function readOutcomes(functions: readonly string[], output: string): Outcomes {
  const [, ...parts] = output.split(/^Recording: (?=\w+$)/m)
  const outcomes = new Map<string, Outcome>(functions.map((name) => [name, { passed: false, output }]))
  for (const part of parts)
    outcomes.set(part.split("\n", 1)[0] ?? "", { output: part, passed: /^\+\+\+ exit code: 0$/m.test(part) })
  return outcomes
}
