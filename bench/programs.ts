// Runs the programs of a bench in separate processes. They end with their parent, however it ends, because the pipe to their
// standard input is then closed.

import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { nodeFlags } from "../test/harness/polyplane.ts"

interface Program extends AsyncDisposable {
  pid: number
  /** The next line of its output; fails if it has ended. */
  line(): Promise<string>
  /** Sends a line, for which the program waits before it continues. */
  send(line: string): void
  signal(signal: NodeJS.Signals): void
}

/** `name`: a file in this folder. */
export async function startProgram(name: string, args: readonly string[] = []): Promise<Program> {
  const file = fileURLToPath(new URL(name, import.meta.url))
  const child = spawn(process.execPath, [...nodeFlags, file, ...args], { stdio: ["pipe", "pipe", "inherit"] })
  const closed = once(child, "close")
  await once(child, "spawn")
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  child.stdin.on("error", () => undefined) // the program has already ended
  return {
    pid: child.pid as number,
    async line() {
      const { done, value } = await lines.next()
      if (done === true) throw new Error(`${name} ended without the expected output`)
      return value
    },
    send: (line) => void child.stdin.write(`${line}\n`),
    signal: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await closed
    },
  }
}

/** Called by a program: shuts it down in an orderly way when its parent closes the pipe or ends. */
export function endWithParent(dispose: () => Promise<unknown>): void {
  process.stdin.resume()
  // Also exits if dispose() fails.
  process.stdin.once("close", () => void dispose().finally(() => process.exit()))
}

/** Called by a program: waits for the next line from its parent. */
export async function readParentLine(): Promise<string> {
  const [data] = (await once(process.stdin, "data")) as [Buffer]
  return data.toString()
}
