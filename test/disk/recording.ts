// Converts system calls to operations: resolves the file of a descriptor or path at that moment, the offset of a write, and the
// order. A change counts when its call has ended, a flush covers the changes that had ended before it began, and a line is
// acknowledged when its call begins: whatever the order in the kernel, nothing is assumed to be safer than it was.

import { isAbsolute, resolve, sep } from "node:path"
import { rootInode, type Inode, type Name, type Operation } from "./operations.ts"
import { decode, type SystemCall, type TraceEvent } from "./strace.ts"

interface OpenFile {
  inode: Inode
  offset: number
  append: boolean
}

/** The operations of a traced program below `root`, an absolute path without symbolic links that was empty before. */
export function recordingOf(root: string, events: readonly TraceEvent[]): readonly Operation[] {
  const recorder = new Recorder(root)
  for (const { type, call } of events) {
    if (type === "begins") recorder.begin(call)
    else if (call.result >= 0) recorder.end(call)
  }
  return recorder.operations
}

class Recorder {
  readonly operations: Operation[] = []
  readonly #root: string
  /** By current path. */
  readonly #inodes = new Map<string, Inode>()
  readonly #sizes = new Map<Inode, number>()
  readonly #open = new Map<number, OpenFile>()
  /** The positions at which the flushes in progress began. */
  readonly #flushes = new Map<SystemCall, { inode: Inode; before: number }>()
  #said = ""

  constructor(root: string) {
    this.#root = root
    this.#inodes.set(root, rootInode)
  }

  begin(call: SystemCall): void {
    // The descriptor may be reused before the end of this call is logged.
    if (call.name === "close") this.#open.delete(descriptorOf(call))
    else if (call.name === "write" && descriptorOf(call) === 1) this.#say(call)
    else if (call.name === "fsync" || call.name === "fdatasync") {
      const inode = this.#open.get(descriptorOf(call))?.inode
      if (inode !== undefined) this.#flushes.set(call, { inode, before: this.operations.length })
    }
  }

  /** For calls that succeeded. */
  end(call: SystemCall): void {
    const { name } = call
    if (name === "openat" || name === "open") this.#opened(call)
    else if (name === "write" || name === "writev" || name === "pwrite64" || name === "pwritev") this.#written(call)
    else if (name === "fsync" || name === "fdatasync") this.#flushed(call)
    else if (name === "ftruncate") this.#truncated(call)
    else if (name === "lseek") this.#moved(call)
    else if (name === "mkdir") this.#linked(pathOf(call), true)
    else if (name === "rename") this.#renamed(call)
    else if (name === "unlink" || name === "unlinkat" || name === "rmdir") this.#unlinked(pathOf(call))
    else if (name !== "close") this.#refuse(call)
  }

  /** Unknown calls are harmless outside the root; below it they would be missing from the recording. */
  #refuse({ name, args }: SystemCall): void {
    if (name === "mmap" && !/PROT_WRITE.*MAP_SHARED/.test(args)) return
    const paths = args.match(/(?<=[<"])(?:\\x[0-9a-f]{2})+/g) ?? []
    if (name.startsWith("sync") || paths.some((path) => this.#isBelow(decode(path).toString())))
      throw new Error(`the recording does not know what ${name} does: ${args.slice(0, 1000)}`)
  }

  #isBelow(path: string): boolean {
    return path === this.#root || path.startsWith(this.#root + sep)
  }

  #say(call: SystemCall): void {
    const lines = (this.#said + dataOf(call).toString()).split("\n")
    this.#said = lines.pop() ?? ""
    for (const line of lines) this.operations.push({ type: "said", line })
  }

  #opened(call: SystemCall): void {
    const path = call.resultPath ?? ""
    if (!this.#isBelow(path)) return
    const flags = /, (?<flags>O_[A-Z_|]+)/.exec(call.args)?.groups?.["flags"]?.split("|") ?? []
    if (!this.#inodes.has(path)) this.#linked(path, false)
    const inode = this.#inodeOf(path)
    if (flags.includes("O_TRUNC") && this.#sizeOf(inode) > 0) this.#resize(inode, 0)
    this.#open.set(call.result, { inode, offset: 0, append: flags.includes("O_APPEND") })
  }

  #written(call: SystemCall): void {
    const file = this.#open.get(descriptorOf(call))
    if (file === undefined) return
    const data = dataOf(call).subarray(0, call.result)
    const position = call.name.startsWith("p") ? Number(/, (?<at>\d+)$/.exec(call.args)?.groups?.["at"]) : undefined
    const offset = position ?? (file.append ? this.#sizeOf(file.inode) : file.offset)
    if (position === undefined) file.offset = offset + data.length
    this.operations.push({ type: "write", inode: file.inode, offset, data })
    this.#sizes.set(file.inode, Math.max(this.#sizeOf(file.inode), offset + data.length))
  }

  #flushed(call: SystemCall): void {
    const flush = this.#flushes.get(call)
    if (flush !== undefined) this.operations.push({ type: "flush", ...flush })
    this.#flushes.delete(call)
  }

  #truncated(call: SystemCall): void {
    const file = this.#open.get(descriptorOf(call))
    if (file !== undefined) this.#resize(file.inode, Number(/, (?<size>\d+)$/.exec(call.args)?.groups?.["size"]))
  }

  #moved(call: SystemCall): void {
    const file = this.#open.get(descriptorOf(call))
    if (file !== undefined) file.offset = call.result
  }

  #resize(inode: Inode, size: number): void {
    this.operations.push({ type: "truncate", inode, size })
    this.#sizes.set(inode, size)
  }

  #linked(path: string, isDirectory: boolean): void {
    if (!this.#isBelow(path) || path === this.#root) return
    const inode = this.#sizes.size + 1
    this.#sizes.set(inode, 0)
    this.#inodes.set(path, inode)
    this.operations.push({ type: "link", at: this.#nameOf(path), inode, isDirectory })
  }

  #unlinked(path: string): void {
    if (!this.#isBelow(path)) return
    this.operations.push({ type: "unlink", at: this.#nameOf(path) })
    this.#inodes.delete(path)
  }

  #renamed(call: SystemCall): void {
    const [from = "", to = ""] = stringsOf(call.args).map(absolute)
    if (!this.#isBelow(from) && !this.#isBelow(to)) return
    const inode = this.#inodeOf(from)
    this.operations.push({ type: "rename", inode, from: this.#nameOf(from), to: this.#nameOf(to) })
    const moved = [...this.#inodes].filter(([path]) => path === from || path.startsWith(from + sep))
    for (const [path, each] of moved) {
      this.#inodes.delete(path)
      this.#inodes.set(to + path.slice(from.length), each)
    }
  }

  #inodeOf(path: string): Inode {
    const inode = this.#inodes.get(path)
    if (inode === undefined) throw new Error(`${path} was not seen to be made`)
    return inode
  }

  #sizeOf(inode: Inode): number {
    return this.#sizes.get(inode) ?? 0
  }

  #nameOf(path: string): Name {
    const at = path.lastIndexOf(sep)
    return { directory: this.#inodeOf(path.slice(0, at)), name: path.slice(at + 1) }
  }
}

const descriptorOf = ({ args }: SystemCall): number => Number.parseInt(args, 10)

const stringsOf = (args: string): string[] =>
  [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, text = ""]) => decode(text).toString())

/** write and pwrite64 have one string; writev and pwritev have one per piece. */
const dataOf = ({ args }: SystemCall): Buffer =>
  Buffer.concat([...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, text = ""]) => decode(text)))

/** For calls whose first string is the path; it may be preceded by the descriptor of the directory to which it is relative. */
function pathOf({ args }: SystemCall): string {
  const directory = /^[^"]*?<((?:\\x[0-9a-f]{2})+)>/.exec(args)?.[1]
  const [path = ""] = stringsOf(args)
  return directory === undefined ? absolute(path) : resolve(decode(directory).toString(), path)
}

/** The log does not contain the working directory. */
function absolute(path: string): string {
  if (!isAbsolute(path))
    throw new Error(`the recording does not know where ${path} is: programs have to use absolute paths`)
  return resolve(path)
}
