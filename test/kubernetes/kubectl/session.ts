// Sessions of one kubectl against two servers, which have to print the same and end the same way.

import { mkdirSync } from "node:fs"
import { setTimeout as delay } from "node:timers/promises"
import { installedKubectls } from "../../harness/kubectls.ts"
import { run, succeed } from "../../harness/processes.ts"
import { binaryPath, missingBinaries } from "../build/cache.ts"
import { difference, normalise } from "./normalise.ts"

export interface Step {
  command: string
  /** Environment beyond the usual. */
  env?: Record<string, string>
  /** Minor releases of kubectl that have the command, when not all do. */
  since?: number
  /** Known to differ, and why. */
  differs?: string
}

interface Kubectl {
  minor: string
  program: string
}

export interface Client {
  program: string
  env: NodeJS.ProcessEnv
}

const current = missingBinaries(["kubectl"]) === undefined ? [{ minor: "1.36", program: binaryPath("kubectl") }] : []
export const kubectls: readonly Kubectl[] = [...installedKubectls(), ...current]

const timeoutMs = 90_000
/** What is read may need a moment to become what it will be: upstream looks every 5 s whether a definition's objects are gone. */
const reading = /^(get|describe|rollout history|diff|top|auth|explain|api-)/
const settleMs = 8_000
const pollMs = 250

/** Works in the namespace, which is new; `home` is the client's own. */
export async function openClient(
  program: string,
  kubeconfig: string,
  home: string,
  namespace: string,
): Promise<Client> {
  // kubectl leaves what was edited and refused among the temporary files.
  const temporary = `${home}/tmp`
  mkdirSync(temporary, { recursive: true })
  const own = { HOME: home, TMPDIR: temporary, KUBECACHEDIR: `${home}/cache`, KUBECONFIG: `${home}/config` }
  const env = { ...process.env, ...own }
  const minified = await succeed(program, ["config", "view", "--kubeconfig", kubeconfig, "--flatten", "--minify"])
  await succeed("sh", ["-c", `cat > ${home}/config`], { input: minified })
  await succeed(program, ["create", "namespace", namespace], { env })
  await succeed(program, ["config", "set-context", "--current", `--namespace=${namespace}`], { env })
  const account = ["wait", "--for=create", "serviceaccount/default", "--timeout=20s"]
  await run(program, account, { env })
  return { program, env }
}

/** Types the steps that the release knows against both; returns what differs. `objects`: the folder of their files. */
export async function compareSessions(
  minor: string,
  script: readonly Step[],
  [real, tenant]: readonly [Client, Client],
  objects: string,
): Promise<string> {
  const report: string[] = []
  for (const step of script.filter(({ since = 0 }) => Number(minor.split(".")[1]) >= since)) {
    const found = await compare(step, real, tenant, objects)
    if (found !== undefined && step.differs === undefined) report.push(`$ kubectl ${step.command}\n${found}`)
    if (found === undefined && step.differs !== undefined) report.push(`$ kubectl ${step.command}\n  is the same now`)
  }
  return report.join("\n")
}

/** A declared difference, too, may need a moment to be there. */
async function compare(step: Step, real: Client, tenant: Client, objects: string): Promise<string | undefined> {
  const deadline = performance.now() + settleMs
  for (;;) {
    const [expected, found] = await Promise.all([typed(real, step, objects), typed(tenant, step, objects)])
    const differs = expected !== found
    const isExpected = differs === (step.differs !== undefined)
    if (isExpected || !reading.test(step.command) || performance.now() > deadline)
      return differs ? difference(expected, found) : undefined
    await delay(pollMs)
  }
}

/** What is printed, and how it ends. */
export async function typed({ program, env }: Client, { command, env: more }: Step, objects: string): Promise<string> {
  const options = { cwd: objects, env: { ...env, ...more }, timeoutMs }
  const { stdout, stderr, code } = await run(program, command.split(" "), options)
  return normalise(`${stdout}${stderr}exit ${code}`.replaceAll(env["TMPDIR"] ?? "/tmp", "/tmp"))
}
