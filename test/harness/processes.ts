// Child processes of tests: all of them end with the test process, however it ends. On Linux the kernel ensures this even for
// kill -9: PR_SET_PDEATHSIG, set by setpriv.

import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"

const setpriv = "/usr/bin/setpriv"
const canBind = existsSync(setpriv)
const running = new Set<ChildProcess>()
/** Leaders of process groups, which are killed with their group. */
const groups = new WeakSet<ChildProcess>()
const defaultTimeoutMs = 60_000
/** Maximum number of output bytes kept per process. Further output is dropped. */
const maxOutputBytes = 16 * 1024 * 1024

process.once("exit", () => {
  for (const child of running) {
    if (groups.has(child) && child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
    else child.kill("SIGKILL")
  }
})

/**
 * spawn() that tracks the process until it ends. `group`: starts a process group; if the test process is killed, only the group's
 * first process ends with it.
 */
export function start(
  command: string,
  args: readonly string[],
  { group = false, ...options }: SpawnOptions & { group?: boolean },
): ChildProcess {
  const [program, all] = canBind ? [setpriv, ["--pdeathsig", "KILL", "--", command, ...args]] : [command, args]
  const child = spawn(program, all, { ...options, detached: group })
  if (group) groups.add(child)
  running.add(child)
  child.once("close", () => running.delete(child))
  child.once("error", () => running.delete(child)) // reported to those who wait for the process
  return child
}

export interface Output {
  stdout: string
  stderr: string
  /** Undefined if a signal ended it. */
  code: number | undefined
}

export interface RunOptions {
  env?: NodeJS.ProcessEnv
  cwd?: string
  input?: string
  /** The process is killed after this time. Default: a minute. */
  timeoutMs?: number
}

/** Runs a program to its end, whatever its exit code. */
export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Output> {
  const { env = process.env, cwd, input = "", timeoutMs = defaultTimeoutMs } = options
  const child = start(command, args, { env, ...(cwd === undefined ? {} : { cwd }), stdio: "pipe" })
  const stdout = collect(child.stdout)
  const stderr = collect(child.stderr)
  child.stdin?.on("error", () => undefined) // the process ended without reading all of its input
  child.stdin?.end(input)
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs)
  try {
    const [code, signal] = (await once(child, "close")) as [number | null, string | null]
    if (signal === "SIGKILL") {
      throw new Error(`${command} ${args.join(" ")} did not end in ${timeoutMs} ms:\n${stdout()}${stderr()}`)
    }
    return { stdout: stdout(), stderr: stderr(), code: code ?? undefined }
  } finally {
    clearTimeout(timer)
  }
}

/** Runs a program that must succeed; returns its standard output. */
export async function succeed(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { stdout, stderr, code } = await run(command, args, options)
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} exited with ${code}:\n${stdout}${stderr}`)
  return stdout
}

/** Collects the output of a stream; the function returns the output so far. */
export function collect(stream: NodeJS.ReadableStream | null): () => string {
  let text = ""
  stream?.setEncoding("utf8")
  stream?.on("data", (chunk: string) => {
    if (text.length < maxOutputBytes) text += chunk
  })
  return () => text
}
