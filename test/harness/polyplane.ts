// A real `polyplane up` as a separate process, on a free port and with a temporary directory, and kubectl for it. Used by the
// end-to-end tests and the benches.

import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { readFile, rm } from "node:fs/promises"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { unhandledRejection } from "../../cli/unhandled-rejections.ts"
import { temporaryFolder } from "./folders.ts"
import { collect, run, start, succeed, type Output, type RunOptions } from "./processes.ts"

export const repository = fileURLToPath(new URL("../../", import.meta.url))
const main = path.join(repository, "cli", "polyplane.mjs")
/** The flags of `npm start` and of the command itself (first line of cli/polyplane.mjs). */
export const nodeFlags = ["--max-semi-space-size=32"]
const readyLine = /^polyplane is ready in (\d+) ms.*: (https:\/\/\S+)$/m
const readyTimeoutMs = 120_000
const stopTimeoutMs = 60_000

interface PolyplaneOptions {
  /** Further flags of `polyplane up`. */
  args?: readonly string[]
  /** Default: a temporary one that is removed at the end. */
  dataDir?: string
  env?: NodeJS.ProcessEnv
  /** Default 30 s. */
  readyTimeoutMs?: number
}

interface KubectlOptions extends RunOptions {
  /** "admin", or a tenant's name. Default: the tenant demo. */
  kubeconfig?: string
  /** Replaces the first kubectl on PATH. */
  program?: string
}

/** Runs the command line to its end. What it reports of its progress on slow machines is left out. */
export async function polyplane(args: readonly string[], options: RunOptions = {}): Promise<Output> {
  const output = await run(process.execPath, [main, ...args], options)
  return { ...output, stderr: output.stderr.replaceAll(/^… .*\n/gm, "") }
}

export async function startPolyplane(options: PolyplaneOptions = {}): Promise<Polyplane> {
  const directory = await temporaryFolder("polyplane-up")
  const running = new Polyplane(directory, options)
  try {
    await running.start()
    return running
  } catch (error) {
    await running[Symbol.asyncDispose]()
    throw error
  }
}

export class Polyplane implements AsyncDisposable {
  readonly dataDir: string
  readonly #directory: string
  readonly #options: PolyplaneOptions
  #child: ChildProcess | undefined
  #url: string | undefined
  #readyMs = 0
  #stderr = () => ""

  /** Use startPolyplane instead. */
  constructor(directory: string, options: PolyplaneOptions) {
    this.#directory = directory
    this.#options = options
    this.dataDir = options.dataDir ?? path.join(directory, "data")
  }

  get url(): string {
    if (this.#url === undefined) throw new Error("polyplane has not started")
    return this.#url
  }

  /** Time since the start of the process, as reported by itself. */
  get readyMs(): number {
    return this.#readyMs
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Standard error since the last start. */
  get stderr(): string {
    return this.#stderr()
  }

  /** Uses any free port the first time, and the same one later. */
  async start(): Promise<void> {
    const port = this.#url === undefined ? "0" : new URL(this.#url).port
    const args = [main, "up", "--port", port, "--data-dir", this.dataDir, ...(this.#options.args ?? [])]
    const env = { ...process.env, ...this.#options.env }
    const child = start(process.execPath, [...nodeFlags, ...args], {
      cwd: repository,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    })
    this.#child = child
    this.#stderr = collect(child.stderr)
    const [, milliseconds, url] = await this.#ready(child)
    this.#readyMs = Number(milliseconds)
    this.#url = url
  }

  async #ready(child: ChildProcess): Promise<RegExpMatchArray> {
    const stdout = collect(child.stdout)
    const timeoutMs = this.#options.readyTimeoutMs ?? readyTimeoutMs
    return new Promise((resolve, reject) => {
      const fail = (what: string) => reject(new Error(`polyplane up ${what}:\n${stdout()}${this.#stderr()}`))
      const timer = setTimeout(() => fail(`was not ready in ${timeoutMs} ms`), timeoutMs)
      child.once("error", reject)
      child.once("close", (code, signal) => {
        clearTimeout(timer)
        fail(`ended (${signal ?? code})`)
      })
      child.stdout?.on("data", () => {
        const match = stdout().match(readyLine)
        if (match === null) return
        clearTimeout(timer)
        resolve(match)
      })
    })
  }

  /** Kills the process, like a power failure. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL")
  }

  /** Asks the process to end; returns its exit code. */
  async stop(): Promise<number | undefined> {
    const child = this.#child
    const timer = setTimeout(() => child?.kill("SIGKILL"), stopTimeoutMs)
    await this.#end("SIGTERM")
    clearTimeout(timer)
    return child?.exitCode ?? undefined
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, "close")
    child.kill(signal)
    await closed
    // The process has continued, but a test in which this happens has found a bug.
    if (this.#stderr().includes(unhandledRejection)) throw new Error(`polyplane up logged:\n${this.#stderr()}`)
  }

  /** Path of a kubeconfig: "admin" or a tenant's. */
  kubeconfig(name: string): string {
    return name === "admin"
      ? path.join(this.dataDir, "admin.kubeconfig")
      : path.join(this.dataDir, "tenants", `${name}.kubeconfig`)
  }

  readKubeconfig(name: string): Promise<string> {
    return readFile(this.kubeconfig(name), "utf8")
  }

  /** Environment of kubectl: its kubeconfig, and separate caches. */
  environment(kubeconfig = "demo"): NodeJS.ProcessEnv {
    const file = path.isAbsolute(kubeconfig) ? kubeconfig : this.kubeconfig(kubeconfig)
    return {
      ...process.env,
      KUBECONFIG: file,
      HOME: this.#directory,
      KUBECACHEDIR: path.join(this.#directory, "cache"),
    }
  }

  /** Runs a kubectl command that must succeed; returns its standard output. */
  kubectl(args: readonly string[], { kubeconfig, program = "kubectl", ...options }: KubectlOptions = {}) {
    return succeed(program, args, { env: this.environment(kubeconfig), ...options })
  }

  /** Runs kubectl, whether it succeeds or not. */
  tryKubectl(args: readonly string[], { kubeconfig, program = "kubectl", ...options }: KubectlOptions = {}) {
    return run(program, args, { env: this.environment(kubeconfig), ...options })
  }

  /** Runs polyplane with this one's data directory. */
  cli(args: readonly string[]): Promise<Output> {
    return polyplane([...args, "--data-dir", this.dataDir], { cwd: this.#directory })
  }

  /** Path of a file or directory of the test, which is removed with it. */
  path(name: string): string {
    return path.join(this.#directory, name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await rm(this.#directory, { recursive: true, force: true })
  }
}
