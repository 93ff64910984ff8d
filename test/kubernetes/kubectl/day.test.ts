// kubectl of eight minor releases types a day's commands (script.ts) against a real cluster and against a tenant whose pods
// run on another one like it; both have to print the same and end the same way.

import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startPolyplane, type Polyplane } from "../../harness/polyplane.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { script } from "./script.ts"
import { compareSessions, kubectls, openClient } from "./session.ts"

const options = { nodes: 3, controllerManager: true, scheduler: true }
const objects = fileURLToPath(new URL("objects/", import.meta.url))

describe.skipIf(lacks(TestKubernetes.binaries(options)))("a day at the command line", () => {
  let kubernetes: TestKubernetes
  let superCluster: TestKubernetes
  let up: Polyplane

  beforeAll(async () => {
    ;[kubernetes, superCluster] = await Promise.all([TestKubernetes.start(options), TestKubernetes.start(options)])
    up = await startPolyplane({ args: ["--super-kubeconfig", superCluster.kubeconfig] })
  })

  afterAll(async () => {
    await up?.[Symbol.asyncDispose]()
    await superCluster?.[Symbol.asyncDispose]()
    await kubernetes?.[Symbol.asyncDispose]()
  })

  test.each(kubectls)("kubectl $minor", { tags: "independent", timeout: 600_000 }, async ({ minor, program }) => {
    const name = minor.replace(".", "-")
    const clients = await Promise.all([
      openClient(program, kubernetes.kubeconfig, up.path(`real-${name}`), `day-${name}`),
      openClient(program, up.kubeconfig("demo"), up.path(`tenant-${name}`), `day-${name}`),
    ])
    expect(await compareSessions(minor, script, clients, objects)).toBe("")
  })
})
