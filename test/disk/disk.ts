// Computes possible states of the disk after a power loss between two operations, on a Linux journaling file system (ext4, XFS,
// Btrfs):
//
// - changes of names reach the disk in order: the last ones may be missing, but none in between
// - a flush of a file guarantees its content, and that it has the name that it was created with or renamed to before the flush
// - a flush of a directory guarantees all changes of names in it before the flush
// - data written to a file since its last flush may be present, missing or partially present, in any order; where data is missing
//   before data that is present, there are zeros; a sector has all that was written to it before what it has
//
// After "All File Systems Are Not Created Equal" (Pillai and others, OSDI 2014), with ordered changes of names, as LevelDB assumes.

import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { chance, type Random } from "../../apimachinery/testing/random.ts"
import {
  isContentChange,
  isNameChange,
  rootInode,
  type ContentChange,
  type Flush,
  type Inode,
  type NameChange,
  type Operation,
} from "./operations.ts"

/** The least that a disk writes at once. The kernel writes pages, of several sectors. */
const sectorBytes = 512

/** One of the possible states. */
export interface DiskState {
  directories: ReadonlyMap<Inode, ReadonlyMap<string, Inode>>
  files: ReadonlyMap<Inode, Buffer>
  /** Indexes of the operations that did not reach the disk. */
  lost: readonly number[]
}

interface Indexed<T> {
  operation: T
  index: number
}

/** The disk after all operations of a recording. */
export class Disk {
  readonly #names: readonly Indexed<NameChange>[]
  readonly #contents = new Map<Inode, Indexed<ContentChange>[]>()
  readonly #flushes: readonly Indexed<Flush>[]

  constructor(operations: readonly Operation[]) {
    const indexed = operations.map((operation, index) => ({ operation, index }))
    this.#names = indexed.filter((each): each is Indexed<NameChange> => isNameChange(each.operation))
    this.#flushes = indexed.filter((each): each is Indexed<Flush> => each.operation.type === "flush")
    for (const { operation, index } of indexed) {
      if (!isContentChange(operation)) continue
      const changes = this.#contents.get(operation.inode) ?? []
      this.#contents.set(operation.inode, changes)
      changes.push({ operation, index })
    }
  }

  /** A random state after a power loss before operation `position`. */
  afterPowerLoss(position: number, random: Random): DiskState {
    const names = this.#names.filter(({ index }) => index < position)
    const flushes = this.#flushes.filter(({ index }) => index < position).map(({ operation }) => operation)
    const promised = lastPromised(names, flushes) + 1
    const kept = among(random, promised, names.length)
    const { directories, files: linked } = namesAfter(names.slice(0, kept).map(({ operation }) => operation))
    const lost = names.slice(kept).map(({ index }) => index)
    const files = new Map<Inode, Buffer>()
    for (const inode of linked) {
      const changes = (this.#contents.get(inode) ?? []).filter(({ index }) => index < position)
      const flushed = Math.max(0, ...flushes.filter((flush) => flush.inode === inode).map(({ before }) => before))
      const { content, missing } = contentAfter(changes, flushed, random)
      files.set(inode, content)
      lost.push(...missing)
    }
    return { directories, files, lost: lost.toSorted((a, b) => a - b) }
  }
}

/** Writes the state into an empty folder. */
export async function writeState({ directories, files }: DiskState, path: string, inode = rootInode): Promise<void> {
  for (const [name, child] of directories.get(inode) ?? []) {
    const childPath = join(path, name)
    const content = files.get(child)
    if (content !== undefined) {
      await writeFile(childPath, content, { mode: 0o600 })
    } else {
      await mkdir(childPath, { mode: 0o700 })
      await writeState({ directories, files, lost: [] }, childPath, child)
    }
  }
}

/** The index of the last change of names that a flush guarantees, or -1. */
function lastPromised(names: readonly Indexed<NameChange>[], flushes: readonly Flush[]): number {
  let last = -1
  for (const { inode, before } of flushes)
    last = Math.max(
      last,
      names.findLastIndex(({ operation, index }) => index < before && concerns(operation, inode)),
    )
  return last
}

/** Whether the change affects the file's name or a name in the directory. */
function concerns(change: NameChange, inode: Inode): boolean {
  if (change.type === "rename")
    return change.inode === inode || change.from.directory === inode || change.to.directory === inode
  return change.at.directory === inode || (change.type === "link" && change.inode === inode)
}

function namesAfter(changes: readonly NameChange[]) {
  const directories = new Map<Inode, Map<string, Inode>>([[rootInode, new Map()]])
  const files = new Set<Inode>()
  const entries = (inode: Inode): Map<string, Inode> => {
    const found = directories.get(inode)
    if (found === undefined) throw new Error(`inode ${inode} is no directory`)
    return found
  }
  for (const change of changes) {
    if (change.type === "link") {
      entries(change.at.directory).set(change.at.name, change.inode)
      if (change.isDirectory) directories.set(change.inode, new Map())
      else files.add(change.inode)
    } else if (change.type === "unlink") {
      entries(change.at.directory).delete(change.at.name)
    } else {
      entries(change.from.directory).delete(change.from.name)
      entries(change.to.directory).set(change.to.name, change.inode)
    }
  }
  return { directories, files }
}

/** The content of a file whose changes before operation `flushed` are on the disk. */
function contentAfter(changes: readonly Indexed<ContentChange>[], flushed: number, random: Random) {
  const open = changes.findIndex(({ index }) => index >= flushed)
  const safe = open < 0 ? changes.length : open
  const shares = whatIsKept(random, changes.length - safe)
  const missing: number[] = []
  const kept: ContentChange[][] = []
  /** Those with data of a later change. */
  const sectors = new Set<number>()
  for (const [at, { operation, index }] of [...changes.entries()].toReversed()) {
    const share = at < safe ? 1 : (shares[at - safe] ?? 1)
    const begun = share === 0 ? [] : [share === 1 ? operation : begunOf(operation, share)]
    if (share === 0) missing.push(index)
    kept.push([...(share === 1 ? [] : partsIn(sectors, operation)), ...begun])
    for (const part of begun) for (const sector of sectorsOf(part)) sectors.add(sector)
  }
  return { content: contentOf(kept.toReversed().flat()), missing }
}

function sectorsOf(change: ContentChange): number[] {
  if (change.type === "truncate" || change.data.length === 0) return []
  const first = Math.floor(change.offset / sectorBytes)
  const last = Math.floor((change.offset + change.data.length - 1) / sectorBytes)
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

/** What it wrote to these sectors. */
function partsIn(sectors: ReadonlySet<number>, change: ContentChange): ContentChange[] {
  if (change.type === "truncate") return []
  return sectorsOf(change)
    .filter((sector) => sectors.has(sector))
    .map((sector) => {
      const start = Math.max(change.offset, sector * sectorBytes)
      const data = change.data.subarray(start - change.offset, (sector + 1) * sectorBytes - change.offset)
      return { ...change, offset: start, data }
    })
}

/** The fraction of each change since the last flush that is on the disk, from 0 to 1. */
function whatIsKept(random: Random, count: number): readonly number[] {
  const all = Array.from({ length: count }, () => 1)
  const kind = random(4)
  if (kind === 0) return all
  if (kind === 1) return all.map(() => 0)
  if (kind === 2) return all.map(() => (chance(random, 0.5) ? 1 : 0))
  // Changes reach the disk in order, and the one in progress is cut.
  const whole = random(count + 1)
  return all.map((_, index) => (index < whole ? 1 : index === whole ? random(1000) / 1000 : 0))
}

function begunOf(change: ContentChange, share: number): ContentChange {
  if (change.type === "truncate") return change
  return { ...change, data: change.data.subarray(0, Math.floor(change.data.length * share)) }
}

function contentOf(changes: readonly ContentChange[]): Buffer {
  const endOf = (change: ContentChange): number =>
    change.type === "truncate" ? change.size : change.offset + change.data.length
  const content = Buffer.alloc(Math.max(0, ...changes.map(endOf)))
  let size = 0
  for (const change of changes) {
    if (change.type === "write") {
      change.data.copy(content, change.offset)
      size = Math.max(size, endOf(change))
    } else {
      content.fill(0, Math.min(size, change.size))
      size = change.size
    }
  }
  return content.subarray(0, size)
}

/** A random number from `least` to `most`, often one of the two. */
function among(random: Random, least: number, most: number): number {
  const kind = random(3)
  if (kind === 0) return least
  if (kind === 1) return most
  return least + random(most - least + 1)
}
