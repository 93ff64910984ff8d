// Free loopback ports for programs that cannot choose one themselves. They are below those that the system gives to connections and
// to listeners without a port (from 32768 on Linux, from 49152 elsewhere), of which any may be taken before the program listens, and
// below those of Services (30000-32767).

import { randomInt } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:net"

const first = 10_000
const end = 30_000

/** This often a port may be taken before that is an error. */
const maxTaken = 100

/** All different. Another caller of this function takes one of them before it is used in one of 20,000 cases. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  let taken = 0
  while (ports.size < count) {
    const port = randomInt(first, end)
    if (await isFree(port)) ports.add(port)
    else if (++taken === maxTaken)
      throw new Error(`of the loopback ports from ${first} to ${end} ${maxTaken} are taken`)
  }
  return [...ports]
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    await once(server.listen(port, "127.0.0.1"), "listening")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return false
    throw error
  }
  server.close()
  await once(server, "close")
  return true
}
