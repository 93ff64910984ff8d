// The files visible in a simulated container: its own, and those of its mounted volumes (shared by the pod's containers).

/** Maximum size of one volume or container in bytes; further writes fail as on a full disk. */
const maxBytes = 16 * 1024 * 1024

export class Volume {
  /** Path relative to the volume ("a/b") → content. */
  readonly #files = new Map<string, string>()
  readonly readOnly: boolean
  #bytes = 0

  constructor(files: Iterable<[string, string]> = [], readOnly = false) {
    for (const [path, text] of files) this.write(path, text)
    this.readOnly = readOnly
  }

  read(path: string): string | undefined {
    return this.#files.get(path)
  }

  /** Returns false if the disk is full. */
  write(path: string, text: string): boolean {
    const grown = this.#bytes + text.length - (this.#files.get(path)?.length ?? 0)
    if (grown > maxBytes) return false
    this.#bytes = grown
    this.#files.set(path, text)
    return true
  }

  remove(path: string): boolean {
    this.#bytes -= this.#files.get(path)?.length ?? 0
    return this.#files.delete(path)
  }

  paths(): string[] {
    return [...this.#files.keys()]
  }

  /** Replaces the content, as the kubelet does when a ConfigMap has changed. */
  replace(files: Iterable<[string, string]>): void {
    this.#files.clear()
    this.#bytes = 0
    for (const [path, text] of files) this.write(path, text)
  }
}

export interface Mount {
  /** Absolute, no trailing slash. */
  path: string
  volume: Volume
  /** One file or folder of the volume instead of the whole volume. */
  subPath?: string
  readOnly: boolean
}

type FileFault = "No such file or directory" | "Read-only file system" | "No space left on device" | "Is a directory"

export class FileSystem {
  readonly #own: Volume
  /** Longest path first, so that the innermost mount wins. */
  readonly #mounts: readonly Mount[]

  constructor(own: Volume, mounts: readonly Mount[]) {
    this.#own = own
    this.#mounts = [...mounts].sort((a, b) => b.path.length - a.path.length)
  }

  /** Undefined if there is no such file (see {@link fault}). */
  read(path: string): string | undefined {
    const { volume, path: inside } = this.#locate(path)
    return volume.read(inside)
  }

  /** Why a path cannot be read. */
  fault(path: string): FileFault {
    return this.isDirectory(path) ? "Is a directory" : "No such file or directory"
  }

  exists(path: string): boolean {
    const { volume, path: inside } = this.#locate(path)
    return volume.read(inside) !== undefined || this.isDirectory(path)
  }

  isFile(path: string): boolean {
    const { volume, path: inside } = this.#locate(path)
    return volume.read(inside) !== undefined
  }

  isDirectory(path: string): boolean {
    return (
      path === "/" ||
      this.#mounts.some((mount) => mount.path === path && !this.isFile(path)) ||
      this.list(path).length > 0
    )
  }

  write(path: string, text: string, append: boolean): FileFault | undefined {
    const { volume, path: inside, readOnly } = this.#locate(path)
    if (readOnly || volume.readOnly) return "Read-only file system"
    return volume.write(inside, append ? (volume.read(inside) ?? "") + text : text)
      ? undefined
      : "No space left on device"
  }

  remove(path: string): FileFault | undefined {
    const { volume, path: inside, readOnly } = this.#locate(path)
    if (readOnly || volume.readOnly) return "Read-only file system"
    return volume.remove(inside) ? undefined : "No such file or directory"
  }

  /** Removes a path and everything below it. */
  removeTree(path: string): FileFault | undefined {
    for (const name of this.list(path)) {
      const fault = this.removeTree(path === "/" ? `/${name}` : `${path}/${name}`)
      if (fault !== undefined) return fault
    }
    return this.isFile(path) ? this.remove(path) : undefined
  }

  /** Names directly below a directory, sorted. */
  list(directory: string): string[] {
    const prefix = directory === "/" ? "/" : `${directory}/`
    const names = new Set<string>()
    const add = (path: string) => {
      if (path.startsWith(prefix) && path.length > prefix.length)
        names.add(path.slice(prefix.length).split("/")[0] ?? "")
    }
    for (const path of this.#own.paths()) add(`/${path}`)
    for (const mount of this.#mounts) {
      add(mount.path)
      for (const path of mount.volume.paths()) {
        if (mount.subPath === undefined) add(`${mount.path}/${path}`)
        else if (path.startsWith(`${mount.subPath}/`)) add(`${mount.path}/${path.slice(mount.subPath.length + 1)}`)
      }
    }
    return [...names].sort()
  }

  #locate(path: string): { volume: Volume; path: string; readOnly: boolean } {
    for (const { path: at, volume, subPath, readOnly } of this.#mounts) {
      if (path !== at && !path.startsWith(`${at}/`)) continue
      const inside = path.slice(at.length + 1)
      return { volume, readOnly, path: [subPath, inside].filter((part) => part !== undefined && part !== "").join("/") }
    }
    return { volume: this.#own, path: path.slice(1), readOnly: false }
  }
}

/** "/etc" + "../a/./b" → "/a/b". */
export function resolvePath(base: string, path: string): string {
  const parts: string[] = []
  for (const part of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
    if (part === "..") parts.pop()
    else if (part !== "" && part !== ".") parts.push(part)
  }
  return `/${parts.join("/")}`
}
