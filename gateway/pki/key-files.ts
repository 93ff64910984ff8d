// Storage of the gateway's keys: files of one process, readable only by the owner, or records of a store that replicas share.

import { readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { ifThere } from "../../storage/if-there.ts"
import { makeDirectory, syncDirectory } from "../../storage/sync-directory.ts"
import type { Store } from "../../storage/types.ts"

export interface KeyFiles {
  /** Several gateways share them. */
  readonly shared: boolean
  /** Returns all of the files, or undefined if one is missing. */
  read(names: readonly string[]): Promise<Readonly<Record<string, string>> | undefined>
  /** Writes nothing and returns false if another process has written one of them since it was read. */
  write(files: Readonly<Record<string, string>>): Promise<boolean>
}

/** Each file is written atomically, in the given order. */
export function keyDirectory(directory: string): KeyFiles {
  return {
    shared: false,
    async read(names) {
      const texts = await Promise.all(names.map((name) => ifThere(readFile(join(directory, name), "utf8"))))
      return texts.includes(undefined) ? undefined : Object.fromEntries(names.map((name, i) => [name, texts[i] ?? ""]))
    },
    async write(files) {
      await makeDirectory(directory)
      for (const [name, text] of Object.entries(files)) {
        const path = join(directory, name)
        await writeFile(`${path}.new`, text, { mode: 0o600, flush: true })
        await rename(`${path}.new`, path)
      }
      await syncDirectory(directory)
      return true
    },
  }
}

const prefix = "/keys/"

export function keyRecords(store: Store): KeyFiles {
  const seen = new Map<string, number>()
  return {
    shared: true,
    async read(names) {
      const found = await Promise.all(names.map((name) => store.get(prefix + name)))
      names.forEach((name, index) => seen.set(name, found[index]?.modRevision ?? 0))
      const texts = found.map((each) => each && Buffer.from(each.value).toString())
      return texts.includes(undefined) ? undefined : Object.fromEntries(names.map((name, i) => [name, texts[i] ?? ""]))
    },
    async write(files) {
      const { succeeded } = await store.txn({
        compare: Object.keys(files).map((name) => ({ key: prefix + name, modRevision: seen.get(name) ?? 0 })),
        operations: Object.entries(files).map(([name, text]) => ({
          type: "put",
          key: prefix + name,
          value: Buffer.from(text),
        })),
      })
      return succeeded
    },
  }
}
