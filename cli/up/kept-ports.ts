// Remembers the ports of servers for the next start: tenants' Nodes contain the ports of their vn-agents, so other ports would
// cause a write to every tenant.

import { mkdir, readFile, writeFile } from "node:fs/promises"
import path from "node:path"

type Ports = Record<string, number>

export class KeptPorts {
  readonly #file: string
  readonly #before: Ports
  readonly #now: Ports = {}

  private constructor(file: string, before: Ports) {
    this.#file = file
    this.#before = before
  }

  static async read(file: string): Promise<KeptPorts> {
    return new KeptPorts(file, await readPorts(file))
  }

  /** Calls `start` with the previous port of the server with this name, or with 0 (any port) if that is taken or unknown. */
  async start<T extends { port: number }>(name: string, start: (port: number) => Promise<T>): Promise<T> {
    const before = this.#before[name]
    const server = (before === undefined ? undefined : await undefinedIfTaken(start(before))) ?? (await start(0))
    this.#now[name] = server.port
    return server
  }

  /** Writes the ports of this start. */
  async write(): Promise<void> {
    const text = JSON.stringify(this.#now, Object.keys(this.#now).sort())
    if (text === JSON.stringify(this.#before)) return
    await mkdir(path.dirname(this.#file), { recursive: true })
    await writeFile(this.#file, text)
  }
}

/** Returns no ports if the file cannot be read: any port will do. */
async function readPorts(file: string): Promise<Ports> {
  try {
    const ports = Object.entries(JSON.parse(await readFile(file, "utf8")) as object) as [string, unknown][]
    return Object.fromEntries(ports.filter((entry): entry is [string, number] => isPort(entry[1])))
  } catch {
    return {}
  }
}

const isPort = (value: unknown): boolean => Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536

async function undefinedIfTaken<T>(starting: Promise<T>): Promise<T | undefined> {
  try {
    return await starting
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EADDRINUSE" || code === "EACCES") return undefined
    throw error
  }
}
