// A separate cgroup for each node, in every hierarchy of cgroup v1. It is the root of a cgroup namespace: otherwise the kubelets
// of two nodes would end each other's pods, which are all below /kubepods.

import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises"
import path from "node:path"
import { eventually } from "../../harness/eventually.ts"

const mountPoint = "/sys/fs/cgroup"

interface Hierarchy {
  /** The folder below /sys/fs/cgroup. */
  directory: string
  /** Mount options for mounting it again. */
  options: string
  /** The cgroup of this process in it. */
  path: string
}

/** Lines of /proc/self/cgroup have the form "4:cpu,cpuacct:/a" or "1:name=systemd:/a"; "0::/a" is an additional cgroup v2. */
export function parseHierarchies(text: string): Hierarchy[] {
  const found: Hierarchy[] = []
  for (const line of text.trim().split("\n")) {
    const [, controllers = "", ...rest] = line.split(":")
    const at = rest.join(":")
    if (controllers === "") continue
    const name = /^name=(.*)$/.exec(controllers)?.[1]
    found.push(
      name === undefined
        ? { directory: controllers, options: controllers, path: at }
        : { directory: name, options: `none,${controllers}`, path: at },
    )
  }
  return found
}

export async function hierarchies(): Promise<Hierarchy[]> {
  return parseHierarchies(await readFile("/proc/self/cgroup", "utf8"))
}

/** One folder per hierarchy, below that of this process. A process joins by writing its pid to their cgroup.procs. */
export async function createCgroups(name: string): Promise<string[]> {
  return Promise.all(
    (await hierarchies()).map(async ({ directory, path: at }) => {
      const parent = path.join(mountPoint, directory, at)
      const cgroup = path.join(parent, name)
      await mkdir(cgroup, { recursive: true })
      // A new cpuset has neither processors nor memory, and accepts no process before it has.
      if (directory.split(",").includes("cpuset")) {
        for (const file of ["cpuset.cpus", "cpuset.mems"])
          await writeFile(path.join(cgroup, file), await readFile(path.join(parent, file), "utf8"))
      }
      return cgroup
    }),
  )
}

/**
 * Includes everything that kubelet and containers have created below. Their processes have been killed, but may exist for a
 * moment.
 */
export async function removeCgroups(cgroups: readonly string[]): Promise<void> {
  for (const cgroup of cgroups) {
    await eventually(
      async () => {
        await removeTree(cgroup)
        return true
      },
      { what: `removal of ${cgroup}` },
    )
  }
}

/** Removes only folders: the files of a cgroup disappear with it. */
async function removeTree(directory: string): Promise<void> {
  let entries
  try {
    entries = await readdir(directory, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return
    throw error
  }
  for (const entry of entries) if (entry.isDirectory()) await removeTree(path.join(directory, entry.name))
  await rmdir(directory)
}
