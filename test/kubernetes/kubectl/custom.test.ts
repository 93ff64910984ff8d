// kubectl of several minor releases works with custom resources (custom-script.ts) on a real cluster and on a tenant; both have to
// print the same and end the same way.

import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startPolyplane, type Polyplane } from "../../harness/polyplane.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { customScript } from "./custom-script.ts"
import { compareSessions, kubectls, openClient } from "./session.ts"

const options = { controllerManager: true }
const objects = fileURLToPath(new URL("objects/custom/", import.meta.url))
/** All have the same script for the most part, so every third is enough. */
const every = 3

describe.skipIf(lacks(TestKubernetes.binaries(options)))("custom resources at the command line", () => {
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

  test.each(kubectls.filter((_, index) => (kubectls.length - 1 - index) % every === 0))(
    "kubectl $minor",
    { tags: "independent", timeout: 600_000 },
    async ({ minor, program }) => {
      const namespace = `custom-${minor.replace(".", "-")}`
      const clients = await Promise.all([
        openClient(program, kubernetes.kubeconfig, up.path(`real-${minor}`), namespace),
        openClient(program, up.kubeconfig("demo"), up.path(`tenant-${minor}`), namespace),
      ])
      expect(await compareSessions(minor, customScript, clients, objects)).toBe("")
    },
  )
})
