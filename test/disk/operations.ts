// What a program did to the files below a folder, in order: what strace saw (recording.ts), and what disk.ts knows how to lose.

/** Of a file or directory, whatever its names are. The folder itself is `rootInode`. */
export type Inode = number

export const rootInode: Inode = 0

export interface Name {
  directory: Inode
  name: string
}

/** Changes names. */
export type NameChange =
  | { type: "link"; at: Name; inode: Inode; isDirectory: boolean }
  | { type: "unlink"; at: Name }
  | { type: "rename"; inode: Inode; from: Name; to: Name }

/** Changes a file's content. */
export type ContentChange =
  | { type: "write"; inode: Inode; offset: number; data: Buffer }
  | { type: "truncate"; inode: Inode; size: number }

/** fsync or fdatasync has returned: of the file or directory is on the disk what came before operation `before`. */
export interface Flush {
  type: "flush"
  inode: Inode
  before: number
}

export type Operation =
  | NameChange
  | ContentChange
  | Flush
  /** A line on standard output: somebody has been told. */
  | { type: "said"; line: string }

export const isNameChange = (operation: Operation): operation is NameChange =>
  operation.type === "link" || operation.type === "unlink" || operation.type === "rename"

export const isContentChange = (operation: Operation): operation is ContentChange =>
  operation.type === "write" || operation.type === "truncate"

/** For people who look for a fault. */
export function describe(operation: Operation): string {
  if (operation.type === "write")
    return `write inode ${operation.inode} at ${operation.offset}: ${operation.data.length} bytes`
  return JSON.stringify(operation)
}
