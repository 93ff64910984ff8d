// What a command of a container has around it: the shell gives it to programs, and changes it for one command or for all.

import type { FileSystem } from "../container/file-system.ts"
import type { Terminal } from "./terminal.ts"

export interface Process {
  environment: Record<string, string>
  files: FileSystem
  hostname: string
  directory: string
  user: string
  /** Reads all of standard input, "" when there is none. */
  stdin: () => Promise<string>
  stdout: (text: string) => void
  stderr: (text: string) => void
  /** Standard input is a terminal: a shell without a script reads lines from it. */
  terminal?: Terminal | undefined
  /** Ends the run: exit code 143, as SIGTERM's. */
  signal: AbortSignal
}

/** What a process ends with whose signal has ended. */
export const terminated = 143
