// The operations of a program on the files below a folder, in order: recorded by strace (recording.ts); disk.ts simulates their
// loss.

/** A file or directory, independent of its names. The folder itself is `rootInode`. */
export type Inode = number

export const rootInode: Inode = 0

export interface Name {
  directory: Inode
  name: string
}

/** Changes of names. */
export type NameChange =
  | { type: "link"; at: Name; inode: Inode; isDirectory: boolean }
  | { type: "unlink"; at: Name }
  | { type: "rename"; inode: Inode; from: Name; to: Name }

/** Changes of a file's content. */
export type ContentChange =
  | { type: "write"; inode: Inode; offset: number; data: Buffer }
  | { type: "truncate"; inode: Inode; size: number }

/** fsync or fdatasync has returned: the changes of the file or directory before operation `before` are on the disk. */
export interface Flush {
  type: "flush"
  inode: Inode
  before: number
}

export type Operation =
  | NameChange
  | ContentChange
  | Flush
  /** A line on standard output: the operation has been acknowledged. */
  | { type: "said"; line: string }

export const isNameChange = (operation: Operation): operation is NameChange =>
  operation.type === "link" || operation.type === "unlink" || operation.type === "rename"

export const isContentChange = (operation: Operation): operation is ContentChange =>
  operation.type === "write" || operation.type === "truncate"

/** For debugging. */
export function describe(operation: Operation): string {
  if (operation.type === "write")
    return `write inode ${operation.inode} at ${operation.offset}: ${operation.data.length} bytes`
  return JSON.stringify(operation)
}
