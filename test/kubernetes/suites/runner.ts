// Runs a suite somebody else wrote, unmodified and as `go test` would: in its package's folder of Go's module cache, where what
// it reads lies.

import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises"
import path from "node:path"
import { run, succeed } from "../../harness/processes.ts"
import { binaryPath } from "../build/cache.ts"
import { parts, type Part, type Program } from "../build/parts.ts"
import type { Suite } from "./suites.ts"

export interface Outcome {
  passed: number
  /** Why, by the name of the test. */
  failed: Map<string, string>
  /** What it was configured to skip. */
  leftOut: string[]
}

const listTimeoutMs = 60_000
const suiteTimeoutMs = 400_000
/** Of what a suite printed when it ended. */
const quotedLines = 40

/** Folders of the packages and their modules, by program; why there are none, otherwise. */
export async function findSources(suites: readonly Suite[]): Promise<{ folders: Sources } | { missing: string }> {
  const folders: Sources = new Map()
  for (const part of parts) {
    const programs = part.programs.filter(({ name }) => suites.some(({ program }) => program === name))
    for (const program of programs) {
      const found = await findSource(part, program)
      if (found === undefined) return { missing: `${program.package}: its source is not in Go's module cache` }
      folders.set(program.name, found)
    }
  }
  return { folders }
}

interface Source {
  /** Folder of its package. */
  package: string
  /** Folder of its module. */
  module: string
}

type Sources = Map<string, Source>

async function findSource(part: Part, program: Program): Promise<Source | undefined> {
  const env = { ...process.env, GOWORK: "off", GOFLAGS: "-mod=readonly", GOPROXY: "off" }
  try {
    const args = ["list", "-find", "-f", "{{.Dir}} {{.Module.Dir}}", ...tagsOf(program), program.package]
    const { stdout, code } = await run("go", args, { cwd: part.folder, env, timeoutMs: listTimeoutMs })
    const [folder = "", module = ""] = stdout.trim().split(" ")
    return code === 0 && module !== "" ? { package: folder, module } : undefined
  } catch {
    return undefined // Go is not installed
  }
}

const tagsOf = ({ tags }: Program): string[] => (tags === undefined ? [] : ["-tags", tags])

/** `folder`: for what is written meanwhile, some of which the suite expects in its HOME. */
export async function runSuite(suite: Suite, source: Source, kubeconfig: string, temporary: string): Promise<Outcome> {
  await mkdir(temporary, { recursive: true })
  const HOME = await mkdtemp(path.join(temporary, "home-"))
  const env = { ...process.env, HOME, TMPDIR: HOME, KUBECONFIG: kubeconfig, USE_EXISTING_CLUSTER: "true" }
  try {
    if (suite.manifests !== undefined) {
      const apply = ["apply", "--server-side", "-k", path.join(source.module, suite.manifests)]
      await succeed(binaryPath("kubectl"), apply, { env })
    }
    const report = path.join(HOME, "report.json")
    const args = flagsOf(suite, report)
    const options = { cwd: source.package, env, timeoutMs: suiteTimeoutMs }
    const { stdout, stderr, code } = await run(binaryPath(suite.program), args, options)
    const outcome = readOutcome(stdout)
    if (suite.written === "ginkgo") addSpecs(outcome, JSON.parse(await readFile(report, "utf8")) as GinkgoReport[])
    if (code !== 0 && outcome.failed.size === 0) outcome.failed.set("(the suite itself)", lastLines(stdout + stderr))
    return outcome
  } finally {
    await rm(HOME, { recursive: true, force: true })
  }
}

function flagsOf({ written, leftOut = {} }: Suite, report: string): string[] {
  const names = Object.keys(leftOut)
  const own = ["-test.v", `-test.timeout=${suiteTimeoutMs}ms`]
  if (written === "go") {
    const levels = (name: string) => name.split("/").map((level) => `^${literal(level)}$`)
    return [
      ...own,
      ...(names.length === 0 ? [] : [`-test.skip=${names.map((name) => levels(name).join("/")).join("|")}`]),
    ]
  }
  return [
    ...own,
    "--ginkgo.no-color",
    "--ginkgo.seed=1", // the same order of containers each time
    `--ginkgo.json-report=${report}`,
    // What it is compared with begins with the name of the suite.
    ...names.map((name) => `--ginkgo.skip= ${literal(name)}( |$)`),
  ]
}

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)

/** What the testing package prints. A test that failed because of a subtest is reported as well. */
function readOutcome(output: string): Outcome {
  const results = [...output.matchAll(/^ *--- (PASS|FAIL): (\S+)/gm)]
  const names = (word: string) => results.filter(([, result]) => result === word).map(([, , name = ""]) => name)
  const quoted = lastLines(output)
  return {
    passed: names("PASS").length,
    failed: new Map(names("FAIL").map((name) => [name, quoted])),
    leftOut: [],
  }
}

interface GinkgoReport {
  SpecReports: readonly GinkgoSpec[] | null
}

interface GinkgoSpec {
  ContainerHierarchyTexts: readonly string[] | null
  LeafNodeText: string
  LeafNodeType: string
  State: string
  Failure?: { Message: string; Location: { FileName: string; LineNumber: number } }
}

function addSpecs(outcome: Outcome, reports: readonly GinkgoReport[]): void {
  for (const spec of reports.flatMap(({ SpecReports }) => SpecReports ?? [])) {
    const name = [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText || spec.LeafNodeType].join(" ")
    if (spec.State === "skipped") outcome.leftOut.push(name)
    else if (spec.State === "passed") outcome.passed += spec.LeafNodeType === "It" ? 1 : 0
    else if (spec.State !== "pending") outcome.failed.set(name, explain(spec))
  }
}

function explain({ State, Failure }: GinkgoSpec): string {
  const { FileName = "", LineNumber = 0 } = Failure?.Location ?? {}
  return `${State} at ${FileName}:${LineNumber}\n${Failure?.Message ?? ""}`
}

const lastLines = (text: string): string => text.trimEnd().split("\n").slice(-quotedLines).join("\n")
