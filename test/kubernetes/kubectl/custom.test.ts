// kubectl of several minor releases works with custom resources (custom-script.ts), and as administrators do
// (administration-script.ts), on a real cluster and on a tenant; both have to print the same and end the same way.

import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startPolyplane, type Polyplane } from "../../harness/polyplane.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { administrationScript } from "./administration-script.ts"
import { customScript } from "./custom-script.ts"
import { compareSessions, kubectls, openClient, type Step } from "./session.ts"

const options = { controllerManager: true }
/** With the folders of their files. */
const scripts: Readonly<Record<string, readonly Step[]>> = {
  custom: customScript,
  administration: administrationScript,
}
/** All have the same script for the most part, so every third is enough. */
const every = 3

describe.skipIf(lacks(TestKubernetes.binaries(options)))("at the command line", () => {
  let kubernetes: TestKubernetes
  let up: Polyplane

  beforeAll(async () => {
    kubernetes = await TestKubernetes.start(options)
    up = await startPolyplane()
  })

  afterAll(async () => {
    await up?.[Symbol.asyncDispose]()
    await kubernetes?.[Symbol.asyncDispose]()
  })

  const chosen = kubectls.filter((_, index) => (kubectls.length - 1 - index) % every === 0)
  const cases = Object.keys(scripts).flatMap((name) => chosen.map(({ minor, program }) => ({ name, minor, program })))
  test.each(cases)(
    "$name: kubectl $minor",
    { tags: "independent", timeout: 600_000 },
    async ({ name, minor, program }) => {
      const namespace = `${name}-${minor.replace(".", "-")}`
      const clients = await Promise.all([
        openClient(program, kubernetes.kubeconfig, up.path(`real-${name}-${minor}`), namespace),
        openClient(program, up.kubeconfig("demo"), up.path(`tenant-${name}-${minor}`), namespace),
      ])
      const objects = fileURLToPath(new URL(`objects/${name}/`, import.meta.url))
      expect(await compareSessions(minor, scripts[name] ?? [], clients, objects)).toBe("")
    },
  )
})
