// The recorded state of a running cluster, with which anyone can end it: the command `down`, the harness, or the next start after
// the owner was killed.

import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { eventually } from "../../harness/eventually.ts"
import { run } from "../../harness/processes.ts"
import { removeCgroups } from "./cgroups.ts"
import { clustersDirectory } from "./layout.ts"
import { exists } from "./machine.ts"

interface ClusterState {
  /** The process that owns the cluster; undefined if it runs until `down`. */
  owner: number | undefined
  /** The device created for it on this machine. */
  link: string | undefined
  cgroups: string[]
}

export const directoryOf = (name: string): string => path.join(clustersDirectory, name)
export const pidFileOf = (directory: string): string => path.join(directory, "fabric.pid")
const stateFile = (directory: string): string => path.join(directory, "state.json")

export async function writeState(directory: string, state: ClusterState): Promise<void> {
  await mkdir(directory, { recursive: true })
  const file = stateFile(directory)
  await writeFile(`${file}.new`, JSON.stringify(state))
  await rename(`${file}.new`, file)
}

async function readState(directory: string): Promise<ClusterState | undefined> {
  const file = stateFile(directory)
  if (!(await exists(file))) return undefined
  return JSON.parse(await readFile(file, "utf8")) as ClusterState
}

/** The pid of the fabric's first process in the machine's namespace; undefined if it has ended. */
export async function fabricPid(directory: string): Promise<number | undefined> {
  const file = pidFileOf(directory)
  if (!(await exists(file))) return undefined
  const pid = Number(await readFile(file, "utf8"))
  // Pids are reused: only the first process of a pid namespace can be the fabric.
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "")
  return /^NSpid:.*\t1$/m.test(status) ? pid : undefined
}

/** Ends everything of the cluster in this folder, and removes the folder. Succeeds if there is none. */
export async function removeCluster(directory: string): Promise<void> {
  const pid = await fabricPid(directory)
  if (pid !== undefined) {
    process.kill(pid, "SIGKILL")
    await eventually(async () => (await fabricPid(directory)) === undefined, { what: `end of process ${pid}` })
  }
  const state = await readState(directory)
  // Usually it has already been removed with the namespace of its other end.
  if (state?.link !== undefined) await run("ip", ["link", "delete", state.link])
  await removeCgroups(state?.cgroups ?? [])
  await rm(directory, { recursive: true, force: true })
}

/** Removes clusters whose owner was killed. */
export async function removeAbandoned(): Promise<void> {
  if (!(await exists(clustersDirectory))) return
  for (const name of await readdir(clustersDirectory)) {
    const directory = directoryOf(name)
    const owner = (await readState(directory))?.owner
    if (owner !== undefined && !(await exists(`/proc/${owner}`))) await removeCluster(directory)
  }
}
