// The kubeconfigs that `polyplane up` leaves in its data directory. The operator's, and those of tenants asked for by name,
// are there when it says that it is ready. Those of other tenants are looked after in the background: a start must not take
// longer the more tenants there are, and none is woken for it.

import { readdir, readFile, stat, utimes } from "node:fs/promises"
import path from "node:path"
import { pause, systemClock } from "../../client/clock.ts"
import { leadsTo, redirected, type TenantAddress, type TenantAdmin } from "../../client/tenants.ts"
import type { RunningGateway } from "../../gateway/main.ts"
import { kubeconfigPath, tenantOfKubeconfig, writeKubeconfig } from "../tenant/connection.ts"

/** Certificates are good for a year. */
const maxAgeMs = 90 * 24 * 60 * 60_000

/** Files looked at in the background, per second. */
const filesPerSecond = 200

/** Answers the files. The tenants are there. */
export async function writeKubeconfigs(
  gateway: RunningGateway,
  dataDir: string,
  names: readonly string[],
): Promise<string[]> {
  const admin = path.join(dataDir, "admin.kubeconfig")
  await writeKubeconfig(admin, await gateway.adminKubeconfig())
  const files = [admin]
  for (const name of names) {
    const file = kubeconfigPath(dataDir, name)
    await keep(gateway.tenants, file, name)
    files.push(file)
  }
  return files
}

/** Those that are there: none is made. Resolves when all have been looked at, or the signal ends. */
export async function renewKubeconfigs(tenants: TenantAdmin, dataDir: string, signal: AbortSignal): Promise<void> {
  const directory = path.dirname(kubeconfigPath(dataDir, "any"))
  for (const file of await filesIn(directory)) {
    if (signal.aborted) return
    const name = tenantOfKubeconfig(file)
    if (name === undefined || tenants.get(name) === undefined) continue
    await keep(tenants, path.join(directory, file), name)
    await pause(systemClock, 1000 / filesPerSecond, signal)
  }
}

/** Leads here, and its certificate is good for most of its time. */
async function keep(tenants: TenantAdmin, file: string, name: string): Promise<void> {
  const address = await tenants.address(name)
  const found = await readCurrent(file)
  if (found !== undefined && leadsTo(found.text, address)) return
  if (found === undefined || !(await move(file, found, address))) {
    await writeKubeconfig(file, await tenants.kubeconfig(name))
  }
}

/** Only the gateway has moved: the certificate is as good and as old as before, and the tenant may sleep on. */
async function move(file: string, { text, writtenAt }: Found, address: TenantAddress): Promise<boolean> {
  const moved = redirected(text, address)
  if (!leadsTo(moved, address)) return false
  await writeKubeconfig(file, moved)
  await utimes(file, writtenAt, writtenAt)
  return true
}

interface Found {
  text: string
  writtenAt: Date
}

/** Undefined: it is not there, or too old. */
async function readCurrent(file: string): Promise<Found | undefined> {
  try {
    const { mtime } = await stat(file)
    if (Date.now() - mtime.getTime() >= maxAgeMs) return undefined
    return { text: await readFile(file, "utf8"), writtenAt: mtime }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

async function filesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
    throw error
  }
}
