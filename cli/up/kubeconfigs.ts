// The kubeconfigs that `polyplane up` writes to its data directory. The admin's, and those of tenants requested by name, exist
// when it reports that it is ready. Those of other tenants are maintained in the background: the time of a start must not depend
// on the number of tenants, and no tenant is woken for it. While it runs, all are checked once a day, and renewed long before
// their certificates expire.

import { readdir, readFile, rm, stat, symlink, utimes } from "node:fs/promises"
import path from "node:path"
import { pause, systemClock, type Clock } from "../../client/clock.ts"
import type { Following } from "../../client/credentials/follow.ts"
import { pointsTo, redirected, type TenantAddress, type TenantAdmin } from "../../client/tenants.ts"
import type { RunningGateway } from "../../gateway/main.ts"
import { ifThere } from "../../storage/if-there.ts"
import { kubeconfigPath, superKubeconfigLink, tenantOfKubeconfig, writeKubeconfig } from "../tenant/connection.ts"

/** Certificates are valid for a year. */
const maxAgeMs = 90 * 24 * 60 * 60_000

const againMs = 24 * 60 * 60_000

/** Files checked in the background per second. */
const filesPerSecond = 200

/** Returns the paths of the files. The tenants must exist. */
export async function writeKubeconfigs(
  gateway: RunningGateway,
  dataDir: string,
  names: readonly string[],
): Promise<string[]> {
  const files = [await writeAdmin(gateway, dataDir)]
  for (const name of names) {
    const file = kubeconfigPath(dataDir, name)
    await keep(gateway.tenants, file, name, systemClock)
    files.push(file)
  }
  return files
}

async function writeAdmin(gateway: Pick<RunningGateway, "adminKubeconfig">, dataDir: string): Promise<string> {
  const file = path.join(dataDir, "admin.kubeconfig")
  await writeKubeconfig(file, await gateway.adminKubeconfig())
  return file
}

/** For `polyplane tenant`. `file`: the kubeconfig of a real super cluster; undefined: it is simulated. */
export async function linkSuperKubeconfig(dataDir: string, file: string | undefined): Promise<void> {
  const link = superKubeconfigLink(dataDir)
  await rm(link, { force: true })
  if (file !== undefined) await symlink(path.resolve(file), link)
}

/** Runs until the signal ends. Never fails: errors are logged, and retried the next day. */
export async function renewKubeconfigsPeriodically(
  gateway: Pick<RunningGateway, "adminKubeconfig" | "tenants">,
  dataDir: string,
  context: Following,
): Promise<void> {
  const { signal, log, clock = systemClock } = context
  for (;;) {
    await renewKubeconfigs(gateway.tenants, dataDir, context).catch((error: unknown) =>
      log.error({ err: error }, "kubeconfigs of tenants are not all up to date"),
    )
    await pause(clock, againMs, signal)
    if (signal.aborted) return
    await writeAdmin(gateway, dataDir).catch((error: unknown) =>
      log.error({ err: error }, "the admin kubeconfig cannot be renewed"),
    )
  }
}

/** Renews existing files and creates none. Resolves when all have been checked, or the signal ends. */
export async function renewKubeconfigs(
  tenants: TenantAdmin,
  dataDir: string,
  { signal, log, clock = systemClock }: Following,
): Promise<void> {
  const directory = path.dirname(kubeconfigPath(dataDir, "any"))
  for (const file of (await ifThere(readdir(directory))) ?? []) {
    if (signal.aborted) return
    const name = tenantOfKubeconfig(file)
    if (name === undefined || tenants.get(name) === undefined) continue
    try {
      await keep(tenants, path.join(directory, file), name, clock)
    } catch (error) {
      log.error({ err: error, tenant: name }, "a tenant's kubeconfig cannot be renewed")
    }
    await pause(clock, 1000 / filesPerSecond, signal)
  }
}

/** Renews the file unless it has the gateway's address and its certificate is valid for most of its lifetime. */
async function keep(tenants: TenantAdmin, file: string, name: string, clock: Clock): Promise<void> {
  const address = await tenants.address(name)
  const found = await readCurrent(file, clock)
  if (found !== undefined && pointsTo(found.text, address)) return
  if (found === undefined || !(await move(file, found, address))) {
    await writeKubeconfig(file, await tenants.kubeconfig(name))
  }
}

/** Only the gateway's address has changed: the certificate is kept, with its age, and the tenant is not woken. */
async function move(file: string, { text, writtenAt }: Found, address: TenantAddress): Promise<boolean> {
  const moved = redirected(text, address)
  if (!pointsTo(moved, address)) return false
  await writeKubeconfig(file, moved)
  await utimes(file, writtenAt, writtenAt)
  return true
}

interface Found {
  text: string
  writtenAt: Date
}

/** Undefined if the file does not exist or is too old. */
async function readCurrent(file: string, clock: Clock): Promise<Found | undefined> {
  const found = await ifThere(stat(file))
  if (found === undefined || clock.now() - found.mtime.getTime() >= maxAgeMs) return undefined
  const text = await ifThere(readFile(file, "utf8"))
  return text === undefined ? undefined : { text, writtenAt: found.mtime }
}
