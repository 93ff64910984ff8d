// The context of a command in a container: the shell passes it to programs, and changes it for one or all of its commands.

import type { FileSystem } from "../container/file-system.ts"
import type { Terminal } from "./terminal.ts"

export interface Process {
  environment: Record<string, string>
  files: FileSystem
  hostname: string
  directory: string
  user: string
  /** Reads all of standard input, "" if there is none. */
  stdin: () => Promise<string>
  stdout: (text: string) => void
  stderr: (text: string) => void
  /** Set if standard input is a terminal: a shell without a script reads lines from it. */
  terminal?: Terminal | undefined
  /** Ends the run with exit code 143, like SIGTERM. */
  signal: AbortSignal
}

/** Exit code of a process whose signal has ended. */
export const terminated = 143
