// kubectl of eight minor releases types a day's commands (script.ts) against a real cluster and against a tenant whose pods
// run on another one like it; both have to print the same and end the same way.

import { mkdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { setTimeout as delay } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { installedKubectls } from "../../harness/kubectls.ts"
import { startPolyplane, type Polyplane } from "../../harness/polyplane.ts"
import { run, succeed } from "../../harness/processes.ts"
import { binaryPath, missingBinaries } from "../build/cache.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { difference, normalise } from "./normalise.ts"
import { script, type Step } from "./script.ts"

const options = { nodes: 3, controllerManager: true, scheduler: true }
const objects = fileURLToPath(new URL("objects/", import.meta.url))
const current = missingBinaries(["kubectl"]) === undefined ? [{ minor: "1.36", program: binaryPath("kubectl") }] : []
const kubectls = [...installedKubectls(), ...current]
const timeoutMs = 90_000
/** What is read may need a moment to become what it will be. */
const reading = /^(get|describe|rollout history|diff|top|auth|explain|api-)/
const settleMs = 4_000
const pollMs = 250

interface Client {
  program: string
  env: NodeJS.ProcessEnv
}

async function type({ program, env }: Client, { command, env: more }: Step): Promise<string> {
  const options = { cwd: objects, env: { ...env, ...more }, timeoutMs }
  const { stdout, stderr, code } = await run(program, command.split(" "), options)
  return normalise(`${stdout}${stderr}exit ${code}`)
}

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

  async function client(program: string, kubeconfig: string, name: string, namespace: string): Promise<Client> {
    const home = up.path(name)
    mkdirSync(home, { recursive: true })
    const env = { ...process.env, HOME: home, KUBECACHEDIR: `${home}/cache`, KUBECONFIG: `${home}/config` }
    const minified = await succeed(program, ["config", "view", "--kubeconfig", kubeconfig, "--flatten", "--minify"])
    await succeed("sh", ["-c", `cat > ${home}/config`], { input: minified })
    await succeed(program, ["create", "namespace", namespace], { env })
    await succeed(program, ["config", "set-context", "--current", `--namespace=${namespace}`], { env })
    const account = ["wait", "--for=create", "serviceaccount/default", "--timeout=20s"]
    await run(program, account, { env })
    return { program, env }
  }

  test.each(kubectls)(
    "kubectl $minor",
    async ({ minor, program }) => {
      const name = minor.replace(".", "-")
      const [real, tenant] = await Promise.all([
        client(program, kubernetes.kubeconfig, `real-${name}`, `day-${name}`),
        client(program, up.kubeconfig("demo"), `tenant-${name}`, `day-${name}`),
      ])
      const report: string[] = []
      for (const step of script.filter(({ since = 0 }) => Number(minor.split(".")[1]) >= since)) {
        const found = await compare(step, real, tenant)
        if (found !== undefined && step.differs === undefined) report.push(`$ kubectl ${step.command}\n${found}`)
        if (found === undefined && step.differs !== undefined)
          report.push(`$ kubectl ${step.command}\n  is the same now`)
      }
      expect(report.join("\n")).toBe("")
    },
    600_000,
  )

  async function compare(step: Step, real: Client, tenant: Client): Promise<string | undefined> {
    const deadline = performance.now() + (step.differs === undefined ? settleMs : 0)
    for (;;) {
      const [expected, found] = await Promise.all([type(real, step), type(tenant, step)])
      if (expected === found) return undefined
      if (!reading.test(step.command) || performance.now() > deadline) return difference(expected, found)
      await delay(pollMs)
    }
  }
})
