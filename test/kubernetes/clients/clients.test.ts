// Programs nobody here wrote, or that are made of libraries nobody here wrote: each runs against a real cluster and against a
// tenant, and has to say the same on both.

import { mkdir, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createAuthority, issueServingCertificate } from "../../../gateway/pki/pki.ts"
import { startPolyplane, type Polyplane } from "../../harness/polyplane.ts"
import { run } from "../../harness/processes.ts"
import { binaryPath } from "../build/cache.ts"
import { isPythonInstalled, pythonPath } from "../build/python.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { normalise } from "../kubectl/normalise.ts"

const options = { nodes: 2, controllerManager: true, scheduler: true }
const timeoutMs = 150_000
const testTimeoutMs = 2 * timeoutMs
const chart = fileURLToPath(new URL("chart", import.meta.url))
const pythonProgram = fileURLToPath(new URL("python/program.py", import.meta.url))
const pythonOperator = fileURLToPath(new URL("python/operator-program.py", import.meta.url))
const noPython = (await isPythonInstalled()) ? undefined : "what clients/python/requirements.txt names is not installed"

/** What a person does with a chart, in order; in a namespace of its own. */
const helmSession = [
  "install site CHART --create-namespace --wait --timeout 60s",
  "list --output json",
  "status site",
  "get values site --all",
  "get manifest site",
  "get hooks site",
  "test site --timeout 60s",
  "install site CHART",
  "upgrade site CHART --set replicas=3,color=blue --wait --timeout 60s",
  "upgrade site CHART --set fail=true",
  "upgrade site CHART --set color=green --reuse-values --dry-run=server",
  "history site",
  "rollback site 1 --wait --timeout 60s",
  "history site --max 2",
  "upgrade --install other CHART --skip-crds --set replicas=0 --rollback-on-failure --wait --timeout 60s",
  "uninstall other --wait --timeout 60s",
  "uninstall site --keep-history --wait --timeout 60s",
  "list --all --output json",
  "uninstall site --wait --timeout 60s",
  "status site",
]

/** Each in a namespace of its own, and with kinds of its own. */
describe.skipIf(lacks(TestKubernetes.binaries(options)))("clients", { concurrent: true }, () => {
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

  /** What a program prints and how it ends, on the real cluster and on the tenant. */
  async function onBoth(program: string, args: readonly string[] = [], env = {}): Promise<[string, string]> {
    const on = async (name: string, KUBECONFIG: string): Promise<string> => {
      const HOME = up.path(name)
      await mkdir(HOME, { recursive: true })
      const { stdout, stderr, code } = await run(program, args, {
        env: { ...process.env, HOME, KUBECONFIG, ...env },
        timeoutMs,
      })
      return `${stdout}${code === 0 ? "" : stderr}exit ${code}`
    }
    return Promise.all([on("real", kubernetes.kubeconfig), on("tenant", up.kubeconfig("demo"))])
  }

  test.skipIf(lacks(["client-go-program"]))(
    "client-go: protobuf, informers, leader election, server-side apply, …",
    async () => {
      const [real, tenant] = await onBoth(binaryPath("client-go-program"))
      expect(real).toContain("exit 0")
      expect(tenant).toBe(real)
    },
    testTimeoutMs,
  )

  test.skipIf(lacks(["controller-runtime-program"]))(
    "controller-runtime: a manager, its caches and a reconciler, on a definition that envtest installs",
    async () => {
      const [real, tenant] = await onBoth(binaryPath("controller-runtime-program"))
      expect(real).toContain("exit 0")
      expect(tenant).toBe(real)
    },
    testTimeoutMs,
  )

  test.skipIf(lacks([], noPython))(
    "the Python client",
    async () => {
      const [real, tenant] = await onBoth(pythonPath(), [pythonProgram])
      expect(real).toContain("exit 0")
      expect(tenant).toBe(real)
    },
    testTimeoutMs,
  )

  test.skipIf(lacks([], noPython))(
    "an operator made with kopf: webhooks it registers itself, a finalizer, what it missed while it was away",
    async () => {
      const authority = await createAuthority("webhook test authority")
      const serving = await issueServingCertificate(authority, ["127.0.0.1"])
      const files = { AUTHORITY: authority.certificate, CERTIFICATE: serving.certificate, KEY: serving.key }
      const env: Record<string, string> = {}
      for (const [name, content] of Object.entries(files)) {
        env[name] = up.path(`operator-${name.toLowerCase()}.pem`)
        await writeFile(env[name], content, { mode: 0o600 })
      }
      const [real, tenant] = await onBoth(pythonPath(), [pythonOperator], env)
      expect(real).toContain("exit 0")
      expect(tenant).toBe(real)
    },
    testTimeoutMs,
  )

  // One after the other: what the chart defines is the cluster's.
  describe("helm", () => {
    for (const major of ["3", "4"]) {
      test.skipIf(lacks([`helm-${major}`]))(
        `${major} installs a chart with hooks and definitions, upgrades, rolls back, uninstalls`,
        { concurrent: false, timeout: testTimeoutMs },
        async () => {
          for (const line of helmSession) {
            // The flag's name in helm 3.
            const words = (major === "3" ? line.replace("--rollback-on-failure", "--atomic") : line).split(" ")
            const args = words.map((word) => (word === "CHART" ? chart : word))
            const [real, tenant] = await onBoth(binaryPath(`helm-${major}`), [...args, "--namespace", `helm-${major}`])
            expect(inHelmsWords(tenant), `helm ${line}`).toBe(inHelmsWords(real))
          }
        },
      )
    }
  })
})

/** Helm's times have another form, and helm 4 lists resources in the order of a Go map. */
function inHelmsWords(text: string): string {
  const [before = "", ...kinds] = normalise(
    text
      .replaceAll(/\b\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}/g, "TIME")
      .replaceAll(/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4} \w+/g, "TIME"),
  ).split(/^==> /m)
  const [notes = "", ...rest] = kinds.length === 0 ? [] : (kinds.pop() ?? "").split(/\n\n(?=NOTES:)/)
  const sorted = [...kinds, notes].map((kind) => kind.trim()).sort()
  return [before, ...sorted, ...rest].join("\n==> ")
}
