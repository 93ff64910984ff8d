// Polyplane with several workers, for tests.

import { execFile } from "node:child_process"
import { rm } from "node:fs/promises"
import path from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll } from "vitest"
import type { ConfigMap } from "../../apimachinery/object.ts"
import { temporaryFolder } from "./folders.ts"
import { startPolyplane, type Polyplane } from "./polyplane.ts"

export const workers = 3
/** So many that it is practically impossible that one worker has them all. */
export const tenants = Array.from({ length: 12 }, (_, index) => `team-${index}`)
/** The tests do not measure time; this is a limit for loaded machines. */
export const patience = { timeoutMs: 60_000 }

export let up: Polyplane
export let auditLog: string

/** All tests of the file share it. */
export function useWorkers(): void {
  const stack = new AsyncDisposableStack()
  beforeAll(async () => {
    const folder = await temporaryFolder("polyplane-audit")
    stack.defer(() => rm(folder, { recursive: true }))
    auditLog = path.join(folder, "log")
    const args = ["--workers", String(workers), "--tenants", tenants.join(","), "--audit-log", auditLog]
    up = stack.use(await startPolyplane({ args, readyTimeoutMs: 120_000 }))
  }, 150_000)
  afterAll(() => stack.disposeAsync())
}

/** The number of tenants that each worker has, by its name. */
export async function heldByWorkers(): Promise<Map<string, number>> {
  const text = await up.kubectl(["get", "--raw", "/metrics"], { kubeconfig: "admin" })
  const found = text.matchAll(/^polyplane_tenants\{process="(worker-[^"]+)"\} (\d+)$/gm)
  return new Map(Array.from(found, ([, process = "", value]) => [process, Number(value)]))
}

export const sumOf = (held: Map<string, number>): number => [...held.values()].reduce((sum, count) => sum + count, 0)

/** Process ids of the children of a process. */
export async function children(pid: number | undefined): Promise<number[]> {
  const { stdout } = await promisify(execFile)("pgrep", ["-P", String(pid)])
  return stdout.trim().split("\n").map(Number)
}

export const settings = (name: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name },
})
