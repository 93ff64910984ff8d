// Runs the unmodified upstream suite (e2e.test under ginkgo) against one kubeconfig: writes reports and logs to a folder, reports
// progress, and shuts down in an orderly way when it is stopped.

import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, open, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { reasonOf, type Selection } from "./selection.ts"
import { complete, readSpecs, withoutRun, type SpecResult } from "./specs.ts"
import { nodes } from "./target.ts"

interface SuiteOptions {
  /** Contains ginkgo, e2e.test and kubectl. */
  binDirectory: string
  kubeconfig: string
  /** The folder of reports and logs. */
  output: string
  selection: Selection
  /** Patterns for the names of specs. Empty: all specs. */
  focus: readonly string[]
  /** Number of specs run in parallel, if they allow it. */
  processes: number
  parts: readonly Part[]
  /** The run is ended after this time; remaining specs count as not run. */
  limitMs: number
  /** Ends the run; there is a result nevertheless. */
  stop: AbortSignal
  say: (what: string) => void
}

export type Part = "parallel" | "serial"

/** Specs of autoscaling measure how busy the processor keeps pods, and their pods request most of two nodes'. */
const alone = "Serial || Feature: containsAny HPA"
const labels: Record<Part, string> = { parallel: `!(${alone})`, serial: `(${alone})` }
/** Time that the suite has for cleanup after it was stopped. */
const stopMs = 90_000
const progressMs = 30_000
/** For a hanging process. */
const listLimitMs = 120_000

export async function runSuite(options: SuiteOptions): Promise<SpecResult[]> {
  const { parts, output, selection, stop, limitMs, say } = options
  const started = performance.now()
  const results: SpecResult[] = []
  for (const part of parts) {
    const listed = `selected-${part}`
    await ginkgo(options, listed, ["--dry-run"], { part, limitMs: listLimitMs })
    const selected: string[] = []
    for (const { name, outcome } of await readSpecs(path.join(output, `${listed}.json`))) {
      if (outcome !== "passed") continue
      const reason = reasonOf(selection.notAsked, name)
      if (reason === undefined) selected.push(name)
      else results.push(withoutRun(name, "not asked", reason))
    }
    if (selected.length === 0 || stop.aborted) {
      results.push(...complete(selected, []))
      continue
    }
    say(`${selected.length} ${part} specs`)
    const processes = part === "parallel" ? Math.min(options.processes, selected.length) : 1
    const left = Math.max(1000, Math.round(limitMs - (performance.now() - started)))
    const skip = selection.notAsked.map(({ pattern }) => `--skip=${pattern}`)
    await ginkgo(options, part, [`--procs=${processes}`, ...skip], { part, limitMs: left, total: selected.length })
    results.push(...complete(selected, await readSpecs(path.join(output, `${part}.json`))))
  }
  return results.sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function ginkgo(
  { binDirectory, kubeconfig, output, selection, focus, stop, say }: SuiteOptions,
  report: string,
  flags: readonly string[],
  { part, limitMs, total }: { part: Part; limitMs: number; total?: number },
): Promise<void> {
  // The suite leaves folders behind, some with sockets, whose paths must be short.
  const temporary = await mkdtemp(path.join(tmpdir(), "e2e-"))
  const logFile = path.join(output, `${report}.log`)
  const log = await open(logFile, "w")
  const child = spawn(
    path.join(binDirectory, "ginkgo"),
    [
      "--no-color",
      `--label-filter=(${selection.labels}) && ${labels[part]}`,
      ...focus.map((expression) => `--focus=${expression}`),
      `--output-dir=${output}`,
      `--json-report=${report}.json`,
      `--junit-report=${report}.xml`,
      "--timeout=24h",
      ...flags,
      path.join(binDirectory, "e2e.test"),
      "--",
      `--kubeconfig=${kubeconfig}`,
      "--provider=skeleton",
      `--kubectl-path=${path.join(binDirectory, "kubectl")}`,
      "--disable-log-dump",
      // The default is -1, with which specs that need two nodes skip themselves.
      `--num-nodes=${nodes}`,
      // Nothing runs in kube-system before a test.
      "--minStartupPods=0",
    ],
    // A separate process group, because ginkgo does not pass signals on to the processes that run specs.
    { detached: true, stdio: ["ignore", log.fd, log.fd], env: { ...process.env, TMPDIR: temporary } },
  )
  const signal = AbortSignal.any([stop, AbortSignal.timeout(limitMs)])
  const kill = (name: NodeJS.Signals): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, name)
  }
  let killing: NodeJS.Timeout | undefined
  const end = (): void => {
    kill("SIGTERM")
    killing = setTimeout(() => kill("SIGKILL"), stopMs)
  }
  signal.addEventListener("abort", end, { once: true })
  const exit = (): void => kill("SIGKILL")
  process.once("exit", exit)
  const progress = setInterval(() => {
    if (total !== undefined) void describe(logFile, total).then(say)
  }, progressMs)
  try {
    await once(child, "close")
  } finally {
    clearInterval(progress)
    clearTimeout(killing)
    signal.removeEventListener("abort", end)
    process.removeListener("exit", exit)
    await log.close()
    await rm(temporary, { recursive: true, force: true })
  }
}

/** ginkgo prints a dot for each completed spec, followed by an error if it failed. */
async function describe(logFile: string, total: number): Promise<string> {
  const text = await readFile(logFile, "utf8")
  const ended = text.match(/•/g)?.length ?? 0
  const failed = text.match(/^• \[(FAILED|PANICKED|TIMEDOUT)\]/gm)?.length ?? 0
  return `${ended} of ${total} specs have ended, ${failed} failed`
}
