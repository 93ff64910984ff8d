// Suites other projects wrote for API servers, unmodified, on tenants. What fails there is run on a real cluster, too: only what
// passes there is a fault of ours.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { FairPlaces } from "../../../apimachinery/fair-places.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { findSources, runSuite, type Outcome } from "./runner.ts"
import { controlOptions, startControl, startTenants, type Servers } from "./servers.ts"
import { suites, type Suite } from "./suites.ts"

const sources = await findSources(suites)
const missing = "missing" in sources ? sources.missing : undefined
const needs = ["kubectl", ...suites.map(({ program }) => program), ...TestKubernetes.binaries(controlOptions)]
/** They mostly wait. */
const atOnce = 3
/** It may have to wait until it is its turn, and be run once more. */
const testTimeoutMs = 1_200_000

describe.skipIf(lacks(needs, missing))("suites of others", () => {
  const stack = new AsyncDisposableStack()
  const running = new Map<Suite, Promise<Outcome>>()
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "polyplane-suites-"))
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const tenants = stack.use(await startTenants(folder))
    const turns = new FairPlaces<Suite>({ all: atOnce })
    for (const suite of suites) {
      const outcome = turns.run(suite, () => runOn(tenants, suite))
      outcome.catch(() => undefined) // reported by its test
      running.set(suite, outcome)
    }
  })

  afterAll(() => stack.disposeAsync())

  async function runOn(servers: Servers, suite: Suite): Promise<Outcome> {
    const source = "folders" in sources ? sources.folders.get(suite.program) : undefined
    if (source === undefined) throw new Error(`no part of build/parts.ts makes ${suite.program}`)
    const began = performance.now()
    const outcome = await runSuite(suite, source, await servers.target(), folder)
    const seconds = Math.round((performance.now() - began) / 1000)
    console.log(`${suite.program}: ${outcome.passed} passed, ${outcome.failed.size} failed, ${seconds} s`)
    return outcome
  }

  test.each(suites)(
    "$program",
    async (suite) => {
      const outcome = (await running.get(suite)) as Outcome
      const { leftOut = {} } = suite
      for (const [name, why] of Object.entries(leftOut)) {
        console.log(`left out: ${name}: ${why}`)
        if (suite.written === "ginkgo")
          expect(
            outcome.leftOut.some((each) => each.startsWith(name)),
            name,
          ).toBe(true)
      }
      if (outcome.failed.size === 0) return expect(outcome.passed).toBeGreaterThan(0)
      await using control = await startControl()
      const real = await runOn(control, suite)
      expect.fail([...outcome.failed].map(([name, why]) => `${name}: ${verdict(real, name)}\n${why}`).join("\n\n"))
    },
    testTimeoutMs,
  )
})

function verdict(real: Outcome, name: string): string {
  return real.failed.has(name) ? "fails on a real cluster, too" : "passes on a real cluster"
}
