// npm run conformance: runs the unmodified upstream suite against a tenant, and writes the results to docs/conformance.md or, for
// specs outside of conformance, to docs/beyond-conformance.md.

import { mkdir, readFile, writeFile } from "node:fs/promises"
import path from "node:path"
import { parseArgs } from "node:util"
import { repository } from "../../harness/polyplane.ts"
import { binDirectory, cacheDirectory, here as inNodes, kubernetesVersion } from "../node/layout.ts"
import { MachineLacks, missing, unavailable } from "../node/machine.ts"
import { metricsProgram } from "../node/resource-metrics.ts"
import { countOf, printReport, shorten } from "./report.ts"
import { beyondConformance, conformance, reasonOf, type Selection } from "./selection.ts"
import { judge, merge, outcomes, type SpecResult } from "./specs.ts"
import { runSuite, type Part } from "./suite.ts"
import {
  startControl,
  startTarget,
  stopSignal,
  superClusterNames,
  superClusters,
  type SuperCluster,
  type TargetOptions,
} from "./target.ts"

const help = `usage: npm run conformance [-- FLAGS]

Runs the upstream conformance suite against a tenant: 417 specs side by side, then the 29 serial ones; or, with --beyond, what
else the same binary has and a tenant can be asked. A full run on the default super cluster writes docs/conformance.md, or
docs/beyond-conformance.md; any other writes its reports only. A signal ends it with what there is until then.
The two parts may also be run by themselves: --parallel, --serial, and --report for both. Those of conformance may be run at the
same time too.

  --beyond        the specs that are not conformance, but for those that need more than a cluster as this: selection.ts says why
  --focus RE      only specs whose name matches; may be given more than once
  --slice         only the specs of test/kubernetes/conformance/slice.txt, which all have to pass
  --super NAME    ${superClusters.join(", ")}: what the tenant's pods run on (default node)
  --control       against the cluster of real nodes itself
  --procs N       specs at the same time (default 10)
  --serial        only the specs that run alone: the serial ones, and those of autoscaling
  --parallel      only the others
  --limit MINUTES end after it (default ${conformance.limitMinutes}, with --beyond ${beyondConformance.limitMinutes})
  --out DIR       for JUnit and logs (default: a new folder in the cache)
  --report DIR    runs nothing: writes the file in docs of what runs of both parts, on the default super cluster, have left in
                  their folders; given once for each

Exit code: 0 when every selected spec passed, 1 when one did not, 2 when it could not be run, ${unavailable} when this machine cannot.
`

const sliceFile = inNodes("../conformance/slice.txt")

async function main(): Promise<number> {
  const { values: flags } = parseArgs({
    options: {
      beyond: { type: "boolean", default: false },
      focus: { type: "string", multiple: true, default: [] },
      slice: { type: "boolean", default: false },
      super: { type: "string", default: "node" },
      control: { type: "boolean", default: false },
      procs: { type: "string", default: "10" },
      serial: { type: "boolean", default: false },
      parallel: { type: "boolean", default: false },
      limit: { type: "string" },
      out: { type: "string" },
      report: { type: "string", multiple: true, default: [] },
      help: { type: "boolean", default: false },
    },
  })
  if (flags.help) {
    process.stdout.write(help)
    return 0
  }
  const selection = flags.beyond ? beyondConformance : conformance
  if (flags.report.length > 0) return reportOf(selection, flags.report)
  const superCluster = superClusters.find((name) => name === flags.super)
  if (superCluster === undefined) throw new Error(`--super is one of ${superClusters.join(", ")}, not "${flags.super}"`)
  const { resourceMetrics } = selection
  const programs = ["ginkgo", "e2e.test", "kubectl", ...(resourceMetrics ? [metricsProgram] : [])]
  const lacking = await missing(programs, [binDirectory])
  if (lacking.length > 0) throw new Error(`${lacking.join(", ")} missing: npm run kubernetes:build`)
  const parts: Part[] = flags.serial ? ["serial"] : flags.parallel ? ["parallel"] : ["parallel", "serial"]
  const focus = [...flags.focus, ...(flags.slice ? await readSlice() : [])]
  const output = path.resolve(flags.out ?? path.join(cacheDirectory, "conformance", timeName()))
  await mkdir(output, { recursive: true })
  const stop = stopSignal()
  const started = performance.now()
  const say = (what: string): void => {
    process.stderr.write(`${String(Math.round((performance.now() - started) / 1000)).padStart(5)} s  ${what}\n`)
  }
  const results = await run({ superCluster, control: flags.control, output, resourceMetrics, say }, (kubeconfig) =>
    runSuite({
      binDirectory,
      kubeconfig,
      output,
      selection,
      focus,
      processes: positive("procs", flags.procs),
      parts,
      limitMs: positive("limit", flags.limit ?? String(selection.limitMinutes)) * 60_000,
      stop,
      say,
    }),
  )
  await writeFile(path.join(output, "summary.json"), `${JSON.stringify(results, undefined, 1)}\n`)
  printSummary(results, output)
  if (!flags.control && superCluster === "node" && !stop.aborted) await writeReport(selection, results)
  return exitCodeOf(results)
}

/** Only called for a complete run. */
async function writeReport(selection: Selection, results: readonly SpecResult[], runs = 1): Promise<void> {
  if (results.length !== selection.specs) return
  const context = {
    version: kubernetesVersion,
    superCluster: superClusterNames.node,
    command: selection === conformance ? "npm run conformance" : "npm run conformance -- --beyond",
    runs,
  }
  await writeFile(path.join(repository, "docs", selection.report), printReport(results, selection, context))
}

function exitCodeOf(results: readonly SpecResult[]): number {
  const asked = results.length - countOf(results, "not asked")
  return asked > 0 && countOf(results, "passed") === asked ? 0 : 1
}

async function reportOf(selection: Selection, folders: readonly string[]): Promise<number> {
  const runs = await Promise.all(
    folders.map(
      async (folder) => JSON.parse(await readFile(path.join(folder, "summary.json"), "utf8")) as SpecResult[],
    ),
  )
  const results = merge(runs).map((result) => judge(result, reasonOf(selection.notAsked, result.name)))
  printSummary(results, folders.join(", "))
  await writeReport(selection, results, runs.filter((run) => run.some(({ seconds }) => seconds > 0)).length)
  if (results.length !== selection.specs)
    process.stderr.write(
      `these are ${results.length} of ${selection.specs} specs: docs/${selection.report} stays as it is
`,
    )
  return exitCodeOf(results)
}

async function run(
  where: TargetOptions & { superCluster: SuperCluster; control: boolean; output: string },
  suite: (kubeconfig: string) => Promise<SpecResult[]>,
): Promise<SpecResult[]> {
  await using target = where.control ? await startControl(where) : await startTarget(where.superCluster, where)
  try {
    return await suite(target.kubeconfig)
  } finally {
    await writeFile(path.join(where.output, "polyplane.log"), target.log())
  }
}

function printSummary(results: readonly SpecResult[], output: string): void {
  for (const { outcome, name, seconds, message } of results) {
    if (outcome === "failed" || outcome === "not run")
      process.stdout.write(`${outcome} (${seconds} s)  ${name}\n    ${shorten(message)}\n`)
  }
  const counts = outcomes.map((outcome) => `${countOf(results, outcome)} ${outcome}`)
  process.stdout.write(`${counts.join(", ")}; ${output}\n`)
}

/** One spec per line; empty lines and those that begin with # are ignored. */
async function readSlice(): Promise<string[]> {
  const lines = (await readFile(sliceFile, "utf8")).split("\n").map((line) => line.trim())
  return (
    lines
      .filter((line) => line !== "" && !line.startsWith("#"))
      // ginkgo prepends the suite's name to that of a spec, so only the end can be anchored.
      .map((name) => `${name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`)
  )
}

function positive(flag: string, text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${flag} is a number of at least 1, not "${text}"`)
  return value
}

const timeName = (): string => new Date().toISOString().slice(0, 19).replaceAll(":", "-")

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`conformance: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = error instanceof MachineLacks ? unavailable : 2
}
