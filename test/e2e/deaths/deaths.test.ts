// Tenants' lives at random (tenant-life.ts) while processes of the gateway are killed, or stopped and continued, at any moment. Nothing
// that was acknowledged is lost or done twice, no tenant sees anything of another, or of a former one of its name, and nothing of
// deleted tenants stays.

import { execFile } from "node:child_process"
import { readdir } from "node:fs/promises"
import path from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { chance, createRandom, pick, type Random, seedOf } from "../../../apimachinery/testing/random.ts"
import { loadKubeconfig } from "../../../client/credentials/kubeconfig.ts"
import { connectTenants } from "../../../client/remote-tenants.ts"
import { eventually } from "../../harness/eventually.ts"
import { polyplane, startPolyplane, type Polyplane } from "../../harness/polyplane.ts"
import { TenantLife } from "./tenant-life.ts"

const names = ["one", "two", "three", "four", "five", "six"]
const seconds = Number(process.env["DEATHS_SECONDS"] ?? 20)

/** Process ids of the workers. */
async function workersOf(up: Polyplane): Promise<number[]> {
  const { stdout } = await promisify(execFile)("pgrep", ["-P", String(up.pid)]).catch(() => ({ stdout: "" }))
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map(Number)
}

function signal(pid: number, deed: NodeJS.Signals): void {
  try {
    process.kill(pid, deed)
  } catch {
    // It has died of something else.
  }
}

async function stopFor(pid: number, ms: number): Promise<void> {
  signal(pid, "SIGSTOP")
  await delay(ms)
  signal(pid, "SIGCONT")
}

/** The first process is killed; what it has started may outlive it for a while, as it is stopped. */
async function restart(up: Polyplane, random: Random): Promise<void> {
  const orphan = chance(random, 0.5) ? (await workersOf(up))[0] : undefined
  if (orphan !== undefined) signal(orphan, "SIGSTOP")
  const killed = up.kill()
  const starting = up.start()
  if (orphan !== undefined) {
    await delay(random(6_000))
    signal(orphan, "SIGCONT")
  }
  await Promise.all([killed, starting])
}

/** What happens next, and how to describe it. */
async function strike(up: Polyplane, random: Random): Promise<string> {
  const workers = await workersOf(up)
  const deed = pick(random, ["kill", "kill two", "stop", "stop long", "stop first", "restart"])
  const victim = workers[random(Math.max(1, workers.length))]
  if (deed === "restart") await restart(up, random)
  else if (deed === "stop first") await stopFor(up.pid ?? 0, random(3_000))
  else if (victim === undefined) return "nothing"
  else if (deed === "kill") signal(victim, "SIGKILL")
  else if (deed === "kill two") {
    signal(victim, "SIGKILL")
    await delay(random(300))
    for (const other of (await workersOf(up)).slice(0, 1)) signal(other, "SIGKILL")
  } else await stopFor(victim, deed === "stop" ? random(900) : 900 + random(2_000))
  return deed
}

// At the same time: most of it they wait.
test.concurrent.for([
  ["one process", ["--tenant-idle", "1", "--tenants", ""]],
  ["three workers", ["--tenant-idle", "1", "--tenants", "", "--workers", "3"]],
] as const)("%s", { timeout: 300_000 + seconds * 1000 }, async ([, args], { onTestFailed }) => {
  const seed = seedOf()
  onTestFailed(() => console.log(`SEED=${seed}`))
  const random = createRandom(seed)
  await using up = await startPolyplane({ args })
  onTestFailed(() => console.log(up.stderr.split("\n").slice(-100).join("\n")))
  const { server, ...identity } = await loadKubeconfig(await up.readKubeconfig("admin"))
  await using admin = await connectTenants({ ...identity, server: new URL(server).origin })
  const faults: string[] = []
  const deeds: string[] = []
  const ending = new AbortController()
  const fault = (sentence: string): void => void faults.push(`${sentence} [${deeds.slice(-3).join()}]`)
  const lives = names.map(
    (name) => new TenantLife({ name, random: createRandom(random(2 ** 31)), admin, ended: ending.signal, fault }),
  )
  await using stack = new AsyncDisposableStack()
  for (const life of lives) stack.use(life)
  const running = Promise.all(lives.map((life) => life.run()))
  for (const until = performance.now() + seconds * 1000; performance.now() < until && faults.length === 0;) {
    deeds.push(await strike(up, random))
    await delay(random(3_000))
  }
  ending.abort()
  await running
  for (const life of lives) await life.finish()
  expect(faults).toEqual([])
  for (const what of ["create", "write", "make", "list", "delete"])
    expect(
      lives.some(({ done }) => done.has(what)),
      what,
    ).toBe(true)

  const uids = ["super", ...lives.map(({ uid }) => uid)]
  const stray = async (): Promise<string[]> =>
    (await readdir(path.join(up.dataDir, "stores"))).filter((uid) => !uids.includes(uid))
  // In one process, there may be one for the next tenant.
  await eventually(async () => (await stray()).length <= 1, { what: "the stores of deleted tenants to be gone" })
  await stack.disposeAsync()
  await up.stop()
  expect(await stray()).toEqual([])
  const checked = await polyplane(["check", "--data-dir", up.dataDir])
  expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("no faults") })
})
