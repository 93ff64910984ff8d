// Redirections of a command: files, the supported devices, and its other output stream.

import { resolvePath } from "../container/file-system.ts"
import type { Redirection } from "./parse.ts"
import type { Process } from "./process.ts"
import type { Word } from "./tokens.ts"

/** Returns the process with redirected streams; undefined if a file could not be opened, which has been reported. */
export async function redirect(
  shell: Process,
  redirections: readonly Redirection[],
  expand: (word: Word) => Promise<string>,
): Promise<Process | undefined> {
  const process = { ...shell }
  for (const { descriptor, mode, target } of redirections) {
    const name = await expand(target)
    if (mode === "duplicate") {
      if (descriptor === 2) process.stderr = process.stdout
      else process.stdout = process.stderr
      continue
    }
    const path = resolvePath(process.directory, name)
    if (mode === "read") {
      const text = process.files.read(path)
      if (text === undefined) {
        process.stderr(`sh: can't open ${name}: ${process.files.fault(path)}\n`)
        return undefined
      }
      const stdin = (): Promise<string> => Promise.resolve(text)
      process.stdin = stdin
      process.terminal = undefined
      continue
    }
    const write = sink(shell, path)
    if (mode === "write" && !write.device) {
      const fault = process.files.write(path, "", false)
      if (fault !== undefined) {
        process.stderr(`sh: can't create ${name}: ${fault}\n`)
        return undefined
      }
    }
    if (descriptor === 1) process.stdout = write.to
    else process.stderr = write.to
  }
  return process
}

function sink(process: Process, path: string): { device: boolean; to: (text: string) => void } {
  switch (path) {
    case "/dev/null":
      return { device: true, to: () => undefined }
    case "/dev/stdout":
    case "/proc/1/fd/1":
      return { device: true, to: process.stdout }
    case "/dev/stderr":
    case "/proc/1/fd/2":
      return { device: true, to: process.stderr }
    default:
      return { device: false, to: (text) => void process.files.write(path, text, true) }
  }
}
