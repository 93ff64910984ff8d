// One run of the unmodified upstream suite (e2e.test under ginkgo) against one kubeconfig: reports and logs into a folder,
// progress while it runs, an orderly end when it is told to stop.

import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, open, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { reasonOf, type Selection } from "./selection.ts"
import { complete, isSerial, readSpecs, withoutRun, type SpecResult } from "./specs.ts"
import { nodes } from "./target.ts"

export interface SuiteOptions {
  /** With ginkgo, e2e.test and kubectl. */
  binDirectory: string
  kubeconfig: string
  /** Reports and logs go there. */
  output: string
  selection: Selection
  /** Specs whose names match one of these. Empty: all. */
  focus: readonly string[]
  /** Specs at the same time, of those that allow it. */
  processes: number
  parts: readonly Part[]
  /** A run is ended after it; what was not run then counts as such. */
  limitMs: number
  /** Ends the run; there is a result nevertheless. */
  stop: AbortSignal
  say: (what: string) => void
}

export type Part = "parallel" | "serial"

const labels: Record<Part, string> = { parallel: "!Serial", serial: "Serial" }
/** How long the suite may tidy up after it was told to stop. */
const stopMs = 90_000
const progressMs = 30_000
/** Of a test that hangs. */
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
    const ran = (await readSpecs(path.join(output, `${part}.json`))).filter(
      (result) => isSerial(result) === (part === "serial"),
    )
    results.push(...complete(selected, ran))
  }
  return results.sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function ginkgo(
  { binDirectory, kubeconfig, output, selection, focus, stop, say }: SuiteOptions,
  report: string,
  flags: readonly string[],
  { part, limitMs, total }: { part: Part; limitMs: number; total?: number },
): Promise<void> {
  // The suite leaves folders behind, with sockets in some: their paths have to be short.
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
      // Otherwise -1, and what needs two of them skips itself.
      `--num-nodes=${nodes}`,
      // Nothing runs in kube-system before a test.
      "--minStartupPods=0",
    ],
    // A group of its own: ginkgo does not pass signals on to the processes that run specs.
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

/** ginkgo prints a dot for each spec that ended, and says behind it when it failed. */
async function describe(logFile: string, total: number): Promise<string> {
  const text = await readFile(logFile, "utf8")
  const ended = text.match(/•/g)?.length ?? 0
  const failed = text.match(/^• \[(FAILED|PANICKED|TIMEDOUT)\]/gm)?.length ?? 0
  return `${ended} of ${total} specs have ended, ${failed} failed`
}
