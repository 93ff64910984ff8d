// Which connections the kernel probes for a peer that has vanished: Linux tells it in /proc/net/tcp.

import { readFile } from "node:fs/promises"

const established = "01"
const keepAliveTimer = "02"

/** For each established connection from this port of IPv4 loopback, whether it is probed. */
export async function areProbed(localPort: number): Promise<boolean[]> {
  const suffix = `:${localPort.toString(16).toUpperCase().padStart(4, "0")}`
  const lines = (await readFile("/proc/net/tcp", "utf8")).split("\n").slice(1)
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(suffix) === true && state === established)
    .map(([, , , , , timer]) => timer?.startsWith(keepAliveTimer) === true)
}
