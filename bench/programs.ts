// Programs of a bench that run in processes of their own: how they are started, and how they end with whoever started them, whatever
// way that ended. The pipe to a program's standard input is what holds it.

import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { nodeFlags } from "../test/harness/polyplane.ts"

export interface Program extends AsyncDisposable {
  pid: number
  /** The next line it says; fails when it has ended instead. */
  line(): Promise<string>
  /** What it waits for before it goes on. */
  tell(line: string): void
  signal(signal: NodeJS.Signals): void
}

/** `name`: of a file beside this one. */
export async function startProgram(name: string, args: readonly string[] = []): Promise<Program> {
  const file = fileURLToPath(new URL(name, import.meta.url))
  const child = spawn(process.execPath, [...nodeFlags, file, ...args], { stdio: ["pipe", "pipe", "inherit"] })
  const closed = once(child, "close")
  await once(child, "spawn")
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  child.stdin.on("error", () => undefined) // it has ended already
  return {
    pid: child.pid as number,
    async line() {
      const { done, value } = await lines.next()
      if (done === true) throw new Error(`${name} ended before it said what it was asked for`)
      return value
    },
    tell: (line) => void child.stdin.write(`${line}\n`),
    signal: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await closed
    },
  }
}

/** Of a program: when whoever started it lets go or is gone, it ends in good order. */
export function endWithParent(dispose: () => Promise<unknown>): void {
  process.stdin.resume()
  // What ends with an error has ended.
  process.stdin.once("close", () => void dispose().finally(() => process.exit()))
}

/** Of a program: what it is told next. */
export async function told(): Promise<string> {
  const [data] = (await once(process.stdin, "data")) as [Buffer]
  return data.toString()
}
