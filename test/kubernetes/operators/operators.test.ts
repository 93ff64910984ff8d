// Operators as they are released, each at work in a tenant of its own. What goes wrong there is tried on a real cluster, too:
// only what goes right there is a fault of ours.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startPolyplane, type Polyplane } from "../../harness/polyplane.ts"
import { binaryPath } from "../build/cache.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { startKubelet, type Kubelet } from "./kubelet.ts"
import { operators } from "./operators.ts"
import { findModules, runOperator } from "./runner.ts"

const modules = await findModules(operators)
const control = {
  nodes: 2,
  controllerManager: true,
  scheduler: true,
  // As most clusters are: Services with the name of a host lead there.
  apiServerFlags: ["--enable-aggregator-routing=false"],
}
const programs = operators.flatMap((operator) => operator.programs.map(({ program }) => program))
const needs = ["kubectl", "helm-4", ...programs, ...TestKubernetes.binaries(control)]
/** It may be run once more. */
const testTimeoutMs = 600_000

describe.skipIf(lacks([...new Set(needs)], typeof modules === "string" ? modules : undefined))("operators", () => {
  const stack = new AsyncDisposableStack()
  let up: Polyplane
  let kubelet: Kubelet
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "polyplane-operators-"))
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    kubelet = stack.use(await startKubelet())
    const tenants = operators.map(({ name }) => name).join()
    const audit = ["--audit-log", path.join(folder, "audit.log")]
    up = stack.use(await startPolyplane({ args: ["--tenants", tenants, ...audit] }))
  })

  afterAll(() => stack.disposeAsync())

  test.concurrent.each(operators)(
    "$name",
    async (operator) => {
      const module = (modules as Map<string, string>).get(operator.module) ?? ""
      const on = (kubeconfig: string, where: string) =>
        runOperator(operator, { module, kubeconfig, kubelet, folder: path.join(folder, `${operator.name}-${where}`) })
      try {
        await on(up.kubeconfig(operator.name), "tenant")
      } catch (error) {
        await using kubernetes = await TestKubernetes.start(control)
        const verdict = await on(kubernetes.kubeconfig, "real").then(
          () => "passes on a real cluster",
          (reason: Error) => `fails on a real cluster, too: ${reason.message}`,
        )
        expect.fail(`${(error as Error).message}\n\n${verdict}`)
      }
      const metrics = ["get", "--raw", "/metrics"]
      const counts = await up.kubectl(metrics, { kubeconfig: operator.name, program: binaryPath("kubectl") })
      expect(counts).toContain("\napiserver_request_total{")
      expect(counts.split("\n").filter((line) => /^apiserver_request_total\{.*code="500"/.test(line))).toEqual([])
    },
    testTimeoutMs,
  )
})
