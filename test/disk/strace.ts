// Runs a program under strace and parses its log: the system calls that change files, with the positions of their beginning and end
// among the others. Strings are hexadecimal in the log, so that all bytes are preserved.

import { readFile } from "node:fs/promises"
import { run } from "../harness/processes.ts"

export interface SystemCall {
  name: string
  /** As strace prints them, without output arguments. */
  args: string
  result: number
  /** The path of a new file descriptor, after the number. */
  resultPath: string | undefined
}

export type TraceEvent = { type: "begins" | "ends"; thread: string; call: SystemCall }

/** All calls that change the content or the names of files. recording.ts rejects those it does not support. */
const traced = [
  "open,openat,openat2,creat,close,dup,dup2,dup3",
  "write,writev,pwrite64,pwritev,pwritev2,lseek,ftruncate,truncate,fallocate,copy_file_range,sendfile,splice,mmap",
  "fsync,fdatasync,sync,syncfs,sync_file_range",
  "rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,symlink,symlinkat",
].join(",")

const longestString = 64 * 1024 * 1024

/** Undefined if strace can be used here; otherwise the reason. */
export async function whyNoStrace(): Promise<string | undefined> {
  const { code, stderr } = await run("strace", ["-f", "-o", "/dev/null", "true"]).catch((error: unknown) => ({
    code: undefined,
    stderr: String(error),
  }))
  return code === 0 ? undefined : `strace is not installed or may not trace (Debian package strace): ${stderr.trim()}`
}

/** Runs a program to its end, and throws if it fails. */
export async function trace(
  command: string,
  args: readonly string[],
  { log, timeoutMs }: { log: string; timeoutMs: number },
): Promise<readonly TraceEvent[]> {
  const strace = ["-f", "--seccomp-bpf", "-y", "-xx", "-s", String(longestString), "-e", `trace=${traced}`]
  const { code, stderr } = await run("strace", [...strace, "-e", "signal=none", "-o", log, command, ...args], {
    // libuv must access files in threads, which strace sees, and not with io_uring.
    env: { ...process.env, UV_USE_IO_URING: "0" },
    timeoutMs,
  })
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}: ${stderr}`)
  return readTrace(await readFile(log, "latin1"))
}

const whole = /^(?<thread>\d+) +(?<name>\w+)\((?<args>.*)\) += (?<result>-?\d+|\?)(?:<(?<path>[^>]*)>)?/
const begun = /^(?<thread>\d+) +(?<name>\w+)\((?<args>.*) <unfinished \.\.\.>$/
const resumed = /^(?<thread>\d+) +<\.\.\. (?<name>\w+) resumed>.*\) += (?<result>-?\d+|\?)(?:<(?<path>[^>]*)>)?/
const ended = /^\d+ +\+\+\+ /

function readTrace(log: string): readonly TraceEvent[] {
  const events: TraceEvent[] = []
  const underWay = new Map<string, SystemCall>()
  for (const line of log.split("\n")) {
    const finished = whole.exec(line)?.groups
    const unfinished = finished === undefined ? begun.exec(line)?.groups : undefined
    const { thread = "", name = "", args = "" } = finished ?? unfinished ?? {}
    if (finished !== undefined) {
      const call = { name, args, ...resultOf(finished) }
      events.push({ type: "begins", thread, call }, { type: "ends", thread, call })
    } else if (unfinished !== undefined) {
      // The result is set when it is known: the event of the beginning has the same object.
      const call: SystemCall = { name, args, result: Number.NaN, resultPath: undefined }
      underWay.set(thread, call)
      events.push({ type: "begins", thread, call })
    } else if (line !== "" && !ended.test(line)) {
      events.push(endOf(line, underWay))
    }
  }
  return events
}

function endOf(line: string, underWay: Map<string, SystemCall>): TraceEvent {
  const groups = resumed.exec(line)?.groups
  const thread = groups?.["thread"] ?? ""
  const call = underWay.get(thread)
  if (groups === undefined || call === undefined) throw new Error(`strace said what is not understood: ${line}`)
  underWay.delete(thread)
  Object.assign(call, resultOf(groups))
  return { type: "ends", thread, call }
}

function resultOf({ result = "?", path }: Record<string, string | undefined>) {
  return { result: result === "?" ? Number.NaN : Number(result), resultPath: path && decode(path).toString() }
}

/** The bytes of a hexadecimal string: \x2f\x74. */
export function decode(text: string): Buffer {
  return Buffer.from(text.replaceAll("\\x", ""), "hex")
}
