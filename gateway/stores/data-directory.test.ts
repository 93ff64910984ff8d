// Unusable data directories: the error messages, and that the directory is unchanged afterwards.

import { chmod, chown, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { emptyBaseLayer } from "../../storage/base-layer.ts"
import { StorageError } from "../../storage/types.ts"
import { StartError } from "../start-error.ts"
import { checkDataDirectory, type CheckedStore } from "./check-data-directory.ts"
import { DataDirectory, explain } from "./data-directory.ts"
import { superUid } from "./paths.ts"
import { spareKey } from "./spare-store.ts"

let parent = ""
let path = ""
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "polyplane-directory-"))
  path = join(parent, "data")
})
afterEach(() => rm(parent, { recursive: true, force: true }))

const open = async (): Promise<void> => (await DataDirectory.open(path))[Symbol.asyncDispose]()

/** The user "nobody" of most systems; any user that owns no files here would do. */
const nobody = 65_534

/** Runs the work as a user who may read the directory but not write to it. Modes do not restrict root. */
async function asReader(directory: string, work: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0
  await chmod(directory, isRoot ? 0o755 : 0o555)
  if (isRoot) process.seteuid?.(nobody)
  try {
    await work()
  } finally {
    if (isRoot) process.seteuid?.(0)
    await chmod(directory, 0o700)
  }
}

describe("a data directory that is not writable", () => {
  const refused = () =>
    expect(open()).rejects.toThrow(
      new StartError(
        `the data directory "${path}" is not writable. Change its owner or mode, or choose another directory`,
      ),
    )

  test("because it cannot be created", async () => {
    await asReader(parent, refused)
    await open()
  })

  test("because it belongs to another user, and is empty", async () => {
    await mkdir(path)
    await chmod(parent, 0o755)
    await asReader(path, refused)
    await open()
  })

  test("because it belongs to another user, and is valid", async () => {
    {
      await using data = await DataDirectory.open(path)
      await data.store.txn({ compare: [], operations: [{ type: "put", key: "/a", value: Buffer.from("1") }] })
    }
    await chmod(parent, 0o755)
    await chmod(join(path, "format"), 0o644)
    await asReader(path, refused)
    await using data = await DataDirectory.open(path)
    expect((await data.store.get("/a"))?.value).toEqual(Buffer.from("1"))
  })
})

test.each<[string, string, string]>([
  [
    "a newer version",
    '{"format": 2}',
    "was written by a newer version of polyplane (format 2, this one knows 1). Use that version",
  ],
  [
    "no version that can be read",
    "{",
    'is not one of polyplane: its file "format" is unreadable. Choose another directory, or restore it from a backup',
  ],
  [
    "no version that is a number",
    '{"format": "1"}',
    'is not one of polyplane: its file "format" is unreadable. Choose another directory, or restore it from a backup',
  ],
])("a data directory of %s is rejected and not changed", async (_what, format, sentence) => {
  await open()
  await writeFile(join(path, "format"), format)
  await expect(open()).rejects.toThrow(new StartError(`the data directory "${path}" ${sentence}`))
  await writeFile(join(path, "format"), '{"format": 1}')
  await open()
})

test("a data directory in use is rejected, and its user is not affected", async () => {
  await using data = await DataDirectory.open(path)
  await expect(open()).rejects.toThrow(
    new StartError(
      `the data directory "${path}" is in use by another process. Stop that process, or choose another directory`,
    ),
  )
  const put = { compare: [], operations: [{ type: "put" as const, key: "/a", value: Buffer.from("1") }] }
  expect(await data.store.txn(put)).toMatchObject({ succeeded: true })
})

test("a damaged store of the super cluster is rejected when it is opened", async () => {
  {
    await using data = await DataDirectory.open(path)
    await using _store = await data.openStore(superUid, emptyBaseLayer)
  }
  await writeFile(join(path, "stores", superUid, "CURRENT"), "nonsense")
  await using data = await DataDirectory.open(path)
  const opening = data.openStore(superUid, emptyBaseLayer)
  await expect(opening).rejects.toThrow(StartError)
  await expect(opening).rejects.toThrow(
    /^the data directory ".*" cannot be opened: store .*super is damaged: .*\. Restore the directory from a backup; /,
  )
})

test("a data directory without the tenants' records is rejected, and an incomplete first start is completed", async () => {
  {
    await using data = await DataDirectory.open(path)
    await using _store = await data.openStore("a", emptyBaseLayer)
  }
  await rm(join(path, "gateway"), { recursive: true })
  await expect(open()).rejects.toThrow(
    /^the data directory ".*" cannot be opened: store .*gateway is missing\. Restore the directory from a backup; /,
  )
  await expect(checkDataDirectory(path).next()).rejects.toThrow(/gateway is missing\. Restore/)
  await rm(join(path, "stores", "a"), { recursive: true })
  await open()
})

test("files that may not be written to are named, with what to do", () => {
  const denied = new StorageError(
    "Unavailable",
    "cannot open store d/gateway: IO error: d/gateway/LOCK: Permission denied",
  )
  expect(explain("d", denied)).toEqual(
    new StartError(
      `the data directory "d" cannot be opened: ${denied.message}. All files must be writable for this user: change their owner or mode, or use a copy`,
    ),
  )
})

test("the check does not report an unused spare store that cannot be removed", async () => {
  await mkdir(path)
  if (process.geteuid?.() === 0) await chown(path, nobody, nobody)
  await asReader(parent, async () => {
    await using data = await DataDirectory.open(path)
    await data.store.txn({ compare: [], operations: [{ type: "put", key: spareKey("left"), value: Buffer.alloc(0) }] })
  })
  const left = join(path, "stores", "left")
  await mkdir(left)
  await writeFile(join(left, "file"), "")
  await chmod(parent, 0o755)
  await asReader(left, async () => {
    const checked: CheckedStore[] = []
    for await (const each of checkDataDirectory(path)) checked.push(each)
    expect(checked).toEqual([{ name: "gateway", faults: [] }])
  })
  expect(await readdir(left)).toEqual(["file"])
})
