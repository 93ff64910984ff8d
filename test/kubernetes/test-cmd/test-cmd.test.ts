// Upstream's own suite for the command line (test/cmd of k8s.io/kubernetes: bash that types kubectl and looks at what comes of
// it), unmodified, on tenants. What fails there is run on a real cluster, too: only what passes there is a fault of ours.
//
// TEST_CMD="run_pod_tests run_crd_tests" chooses functions, those that are left out as well.

import { readFile } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { chosen, leftOut } from "./functions.ts"
import { findSource, runFunctions, type Outcome, type Outcomes } from "./runner.ts"
import { controlOptions, startControl, startTenants, type Servers } from "./servers.ts"

const source = await findSource()
const missing = "missing" in source ? source.missing : undefined
const folder = "folder" in source ? source.folder : ""
const groups = process.env["TEST_CMD"]?.split(" ").map((name) => [name]) ?? chosen
/** Groups that run at the same time: the scripts sleep about as long as they compute. */
const atOnce = 4
const timeoutMs = 480_000
/** A function may have to wait until it is its turn. */
const testTimeoutMs = 1_500_000
/** Of what a failed function printed. */
const quotedLines = 40

describe.skipIf(lacks(["kubectl", ...TestKubernetes.binaries(controlOptions)], missing))("upstream's test-cmd", () => {
  const stack = new AsyncDisposableStack()
  const running = new Map<string, Promise<Outcomes>>()
  const passed: string[] = []

  beforeAll(async () => {
    const tenants = stack.use(await startTenants())
    const turns = Array.from({ length: atOnce }, () => Promise.resolve())
    for (const [index, functions] of groups.entries()) {
      const outcomes = (turns[index % atOnce] as Promise<void>).then(() => runOn(tenants, functions))
      turns[index % atOnce] = outcomes.then(
        () => undefined,
        () => undefined, // reported by its tests
      )
      for (const name of functions) running.set(name, outcomes)
    }
  })

  afterAll(async () => {
    const others = Object.entries(leftOut).map(([name, why]) => `  ${name}: ${why}`)
    console.log(`passed: ${passed.join(" ")}\nleft out:\n${others.join("\n")}`)
    await stack.disposeAsync()
  })

  async function runOn(servers: Servers, functions: readonly string[]): Promise<Outcomes> {
    return runFunctions(folder, await servers.target(), functions, timeoutMs)
  }

  async function passesOnControl(name: string): Promise<boolean> {
    await using control = await startControl()
    return (await runOn(control, [name])).get(name)?.passed === true
  }

  test.skipIf(process.env["TEST_CMD"] !== undefined)("every function is run, or left out for a reason", async () => {
    const all = await readFile(path.join(folder, "test/cmd/legacy-script.sh"), "utf8")
    const recorded = [...all.matchAll(/^ +record_command (run_\w+)/gm)].map(([, name = ""]) => name)
    expect([...groups.flat(), ...Object.keys(leftOut)].sort()).toEqual([...new Set(["runTests", ...recorded])].sort())
  })

  test.each(groups.flat())(
    "%s",
    async (name) => {
      const outcome = (await running.get(name))?.get(name)
      if (outcome?.passed === true) {
        passed.push(name)
        return
      }
      const verdict = (await passesOnControl(name)) ? "passes on a real cluster" : "fails on a real cluster, too"
      expect.fail(`${verdict}; on a tenant it ends with\n${lastLines(outcome)}`)
    },
    testTimeoutMs,
  )
})

function lastLines(outcome: Outcome | undefined): string {
  return outcome?.output.trimEnd().split("\n").slice(-quotedLines).join("\n") ?? "nothing"
}
