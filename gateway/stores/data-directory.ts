// The data directory: its layout, its format, and the error messages for its problems.
//
//   format          {"format": 1}
//   pki/            the gateway's keys
//   gateway/        tenants' records, a level store; its lock is the data directory's lock
//   stores/super/   the super cluster's store
//   stores/<uid>/   a tenant's store, or a prepared one (spare-store.ts); with its image (storage/level/image.ts)

import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { opendir, readFile, rename, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { silentLog, type Log } from "../../client/log.ts"
import { ifThere } from "../../storage/if-there.ts"
import { checkPresence, removeDatabase } from "../../storage/level/open-database.ts"
import type { VerifiedTables } from "../../storage/level/files/verify.ts"
import { ResidentBudget } from "../../storage/level/resident.ts"
import { openLevelStore } from "../../storage/level/store.ts"
import type { StoreLimits } from "../../storage/limits.ts"
import { createMemoryStore } from "../../storage/memory/store.ts"
import { makeDirectory, syncDirectory } from "../../storage/sync-directory.ts"
import { hasCode, StorageError, type BaseLayer, type Store } from "../../storage/types.ts"
import { StartError } from "../start-error.ts"
import { keyDirectory, type KeyFiles } from "../pki/key-files.ts"
import { recordsPath, storePath, storesPath, superUid } from "./paths.ts"
import { SpareStore } from "./spare-store.ts"
import type { GatewayStorage, StoreOptions } from "./storage.ts"

const format = 1

/** Memory that large stores may use together, beyond what each may use by itself (StoreLimits.residentBytes). */
const residentBytes = 128 * 1024 * 1024

/** A process that is shutting down releases its stores within this time. */
const releaseMs = 10_000
const againMs = 50

export class DataDirectory implements GatewayStorage {
  readonly #path: string
  readonly #limits: Partial<StoreLimits>
  /** How long to wait for a store that another process has open. */
  readonly #waitMs: number
  readonly #residents = new ResidentBudget(residentBytes)
  readonly #verified: VerifiedTables
  readonly #spares: SpareStore | undefined
  /** The gateway's own records. */
  readonly store: Store

  /** `ahead` resolves to tables that need not be verified any more; `log` is told of what cannot be removed. Throws StartError. */
  static async open(
    path: string,
    limits: Partial<StoreLimits> = {},
    { ahead, log = silentLog }: { ahead?: Promise<VerifiedTables> | undefined; log?: Log | undefined } = {},
  ): Promise<DataDirectory> {
    try {
      await makeDirectory(resolve(path))
      await makeDirectory(storesPath(path))
      await checkFormat(path)
      await checkRecords(path)
      const verified: VerifiedTables = new Map(await ahead)
      await using stack = new AsyncDisposableStack()
      const store = stack.use(await openLevelStore({ directory: recordsPath(path), limits, verified }))
      const spares = new SpareStore({ store, limits, pathOf: (uid) => storePath(path, uid), log })
      await spares.clear()
      stack.move()
      return new DataDirectory(path, limits, store, { spares, verified })
    } catch (error) {
      throw explain(path, error)
    }
  }

  /**
   * For a directory that another process of this gateway has open: the same stores, each of which only one process may open at a
   * time. The records of tenants that this process keeps are discarded at its end.
   */
  static beside(path: string, limits: Partial<StoreLimits> = {}): DataDirectory {
    return new DataDirectory(path, limits, createMemoryStore({ limits }), { waitMs: releaseMs })
  }

  private constructor(
    path: string,
    limits: Partial<StoreLimits>,
    store: Store,
    { spares, verified = new Map(), waitMs = 0 }: { spares?: SpareStore; verified?: VerifiedTables; waitMs?: number },
  ) {
    this.#path = path
    this.#spares = spares
    this.#verified = verified
    this.#waitMs = waitMs
    this.#limits = limits
    this.store = store
  }

  get keys(): KeyFiles {
    return keyDirectory(join(this.#path, "pki"))
  }

  /** Contains one directory per control plane, named by its uid. */
  get stores(): string {
    return storesPath(this.#path)
  }

  newUid(): string {
    return this.#spares?.take() ?? randomUUID()
  }

  async unused(uid: string): Promise<void> {
    await this.#spares?.discard(uid)
  }

  /** `uid`: that of a tenant, or superUid. Throws StartError for the latter, without which nothing can be served. */
  async openStore(uid: string, base: BaseLayer, options: StoreOptions = {}): Promise<Store> {
    try {
      return await this.#openStore(uid, base, options)
    } catch (error) {
      throw uid === superUid ? explain(this.#path, error) : error
    }
  }

  async #openStore(uid: string, base: BaseLayer, options: StoreOptions): Promise<Store> {
    const ahead = await this.#spares?.opened(uid)
    const until = performance.now() + this.#waitMs
    for (;;) {
      try {
        return await openLevelStore({
          directory: storePath(this.#path, uid),
          base,
          limits: this.#limits,
          residents: this.#residents,
          verified: this.#verified,
          // The super cluster is written to at once: whether its database can be opened must be known before anything is served.
          image: uid !== superUid,
          ...(ahead === undefined ? {} : { ahead }),
          ...options,
        })
      } catch (error) {
        if (!hasCode(error, "InUse") || performance.now() >= until) throw error
        await delay(againMs)
      }
    }
  }

  async removeStore(uid: string): Promise<void> {
    await (await this.#spares?.opened(uid))?.database.close()
    const directory = storePath(this.#path, uid)
    await removeDatabase(directory)
    this.#verified.delete(directory)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await using _ = this.store // also if a spare cannot be closed
    await this.#spares?.[Symbol.asyncDispose]()
  }
}

/**
 * Throws Corrupt if the tenants' records are missing, since new and empty tenants would take the place of theirs. Other stores are
 * created later.
 */
export async function checkRecords(path: string): Promise<void> {
  const stores = storesPath(path)
  if (existsSync(stores) && !(await isEmpty(stores))) checkPresence(recordsPath(path))
}

/** There may be ten thousand names in it, of which one is read. */
async function isEmpty(path: string): Promise<boolean> {
  await using directory = await opendir(path, { bufferSize: 1 })
  return (await directory.read()) === null
}

async function checkFormat(path: string): Promise<void> {
  const file = join(path, "format")
  // Opened for writing as well: if that fails, LevelDB would report an error about one of its own files.
  const text = await ifThere(readFile(file, { encoding: "utf8", flag: "r+" }))
  if (text === undefined) {
    await writeFile(`${file}.new`, JSON.stringify({ format }) + "\n", { mode: 0o600, flush: true })
    await rename(`${file}.new`, file)
    await syncDirectory(path)
    return
  }
  const found = readFormat(text)
  if (found === undefined)
    throw new StartError(
      `the data directory "${path}" is not one of polyplane: its file "format" is unreadable. Choose another directory, or restore it from a backup`,
    )
  if (found > format)
    throw new StartError(
      `the data directory "${path}" was written by a newer version of polyplane (format ${found}, this one knows ${format}). Use that version`,
    )
}

function readFormat(text: string): number | undefined {
  try {
    const { format: found } = JSON.parse(text) as { format?: unknown }
    return typeof found === "number" ? found : undefined
  } catch {
    return undefined // the caller reports the error
  }
}

const restoreIt = "Restore the directory from a backup; polyplane check lists everything that is damaged"
const makeItWritable = "All files must be writable for this user: change their owner or mode, or use a copy"
const stopIt = "Stop that process, or choose another directory"

/** A StartError that describes the problem of the data directory, or the error itself if it is a bug. */
export function explain(path: string, error: unknown): unknown {
  const options = { cause: error }
  if (error instanceof StorageError) {
    if (error.code === "InUse")
      return new StartError(`the data directory "${path}" is in use by another process. ${stopIt}`, options)
    if (error.code === "Format")
      return new StartError(
        `the data directory "${path}" was written by a newer version of polyplane. Use that version`,
        options,
      )
    const isDenied = /Permission denied|Read-only file system/.test(error.message)
    const advice = error.code === "Corrupt" ? `. ${restoreIt}` : isDenied ? `. ${makeItWritable}` : ""
    return new StartError(`the data directory "${path}" cannot be opened: ${error.message}${advice}`, options)
  }
  const { code, message, syscall } = error as NodeJS.ErrnoException
  if (code === "EACCES" || code === "EROFS" || code === "EPERM")
    return new StartError(
      `the data directory "${path}" is not writable. Change its owner or mode, or choose another directory`,
      options,
    )
  if (code === "ENOTDIR" || code === "EEXIST")
    return new StartError(`the data directory "${path}" is not a directory. Choose another one`, options)
  if (code === "ENOSPC")
    return new StartError(
      `there is no space left for the data directory "${path}". Free some, or choose another directory`,
      options,
    )
  // Directories that cannot be created (/proc), names that are too long, quotas, …: the system's message is the best one.
  if (code !== undefined && syscall !== undefined)
    return new StartError(`the data directory "${path}" cannot be used: ${message}`, options)
  return error
}
