// Storage: writes, reads, watches and opening of a store on LevelDB, compared with LevelDB itself with the same durability, and
// with one member of a real etcd if that is built.
//   node bench/storage.ts [seconds per line]

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Level } from "level"
import { EtcdDatabase } from "../storage/etcd/database.ts"
import { openLevelStore } from "../storage/level/store.ts"
import type { Store } from "../storage/types.ts"
import { missingBinaries } from "../test/kubernetes/build/cache.ts"
import { TestEtcd } from "../test/kubernetes/etcd/test-etcd.ts"
import { progress } from "./progress.ts"

const seconds = Number(process.argv[2] ?? 1)
const value = Buffer.from(JSON.stringify({ data: "x".repeat(1000) }))
const parallel = 100
const keyCount = 5000

interface Line {
  what: string
  perSecond: number
  compared?: string
  ratio?: number
}

/** Runs `work`, which does `count` operations, for about the requested time; returns operations per second. */
async function rate(count: number, work: (round: number) => Promise<unknown>): Promise<number> {
  await work(0)
  const start = performance.now()
  let rounds = 0
  while (performance.now() - start < seconds * 1000) await work(++rounds)
  return (rounds * count * 1000) / (performance.now() - start)
}

const key = (i: number): string => `/registry/pods/default/pod-${String(i % keyCount).padStart(5, "0")}`
const write = (store: Store, i: number) => store.txn({ compare: [], operations: [{ type: "put", key: key(i), value }] })

async function measureRaw(directory: string): Promise<Record<"single" | "grouped" | "get", number>> {
  const level = new Level<string, Buffer>(directory, { valueEncoding: "buffer" })
  await level.open()
  const put = (i: number) => ({ type: "put", key: key(i), value }) as const
  const single = await rate(1, (i) => level.put(key(i), value, { sync: true }))
  const grouped = await rate(parallel, (round) =>
    level.batch(
      Array.from({ length: parallel }, (_, i) => put(round * parallel + i)),
      { sync: true },
    ),
  )
  const get = await rate(1000, async (round) => {
    for (let i = 0; i < 1000; i++) level.getSync(key(round * 1000 + i))
  })
  await level.close()
  return { single, grouped, get }
}

async function measureLevel(directory: string): Promise<Record<string, number>> {
  await using store = await openLevelStore({ directory })
  return await measureStore(store, 1000)
}

/** Undefined if etcd is not built. */
async function measureEtcd(): Promise<Record<string, number> | undefined> {
  const missing = missingBinaries(["etcd"])
  if (missing !== undefined) {
    console.log(missing)
    return undefined
  }
  await using etcd = await TestEtcd.start({ durable: true })
  await using database = await EtcdDatabase.open({ servers: etcd.servers })
  await using store = await database.openStore("bench")
  const common = { prefix: "/registry/", maxBytes: 2 ** 40, reserveBytes: 0 }
  await using far = await database.openStore("far", undefined, { ...common, maxObjects: 1_000_000 })
  await using near = await database.openStore("near", undefined, { ...common, maxObjects: keyCount + 1 })
  return { ...(await measureStore(store, 20)), far: await measureGrouped(far), near: await measureGrouped(near) }
}

function measureGrouped(store: Store): Promise<number> {
  return rate(parallel, (round) =>
    Promise.all(Array.from({ length: parallel }, (_, i) => write(store, round * parallel + i))),
  )
}

/** `gets`: number of sequential reads per round. */
async function measureStore(store: Store, gets: number): Promise<Record<string, number>> {
  const single = await rate(1, (i) => write(store, i))
  const grouped = await measureGrouped(store)
  for (let i = 0; i < keyCount; i += 500) await Promise.all(Array.from({ length: 500 }, (_, k) => write(store, i + k)))
  const get = await rate(gets, async (round) => {
    for (let i = 0; i < gets; i++) await store.get(key(round * gets + i))
  })
  const range = await rate(keyCount, () => store.range("/registry/pods/"))
  const page = await rate(1, () => store.range("/registry/pods/", { limit: 10 }))
  const old = store.revision - 100
  const history = await rate(500, () => store.range("/registry/pods/", { revision: old, limit: 500 }))
  const backlog = await rate(1000, async () => {
    const watcher = store.watch("/registry/pods/", { after: store.revision - 1000 })
    let seen = 0
    for await (const events of watcher) if ((seen += events.length) >= 1000) break
  })
  return { single, grouped, get, range, page, history, backlog }
}

async function measureOpening(directory: string): Promise<Record<"open" | "create", number>> {
  const cycle = async (path: string): Promise<void> => {
    await using store = await openLevelStore({ directory: path })
    await store.get(key(1))
  }
  return {
    open: await rate(1, () => cycle(directory)),
    create: await rate(1, (i) => cycle(join(directory, "..", `new-${i}`))),
  }
}

function print(lines: readonly Line[]): void {
  for (const { what, perSecond, compared, ratio } of lines) {
    const comparison = compared === undefined ? "" : `${((ratio ?? 0) * 100).toFixed(0).padStart(4)} % of ${compared}`
    console.log(`${what.padEnd(46)} ${Math.round(perSecond).toLocaleString("en").padStart(10)} /s   ${comparison}`)
  }
  console.log(JSON.stringify({ bench: "storage", valueBytes: value.length, keyCount, parallel, lines }))
}

const root = await mkdtemp(join(tmpdir(), "polyplane-bench-"))
try {
  progress("LevelDB alone")
  const raw = await measureRaw(join(root, "raw"))
  progress("a store on LevelDB")
  const own = await measureLevel(join(root, "store"))
  progress("a store on etcd")
  const etcd = await measureEtcd()
  const opening = await measureOpening(join(root, "store"))
  const line = (what: string, perSecond = 0, compared?: string, reference?: number): Line =>
    compared === undefined || reference === undefined
      ? { what, perSecond }
      : { what, perSecond, compared, ratio: perSecond / reference }
  print([
    line("raw level: put, fsynced, one after the other", raw.single),
    line("transactions, one after the other", own["single"], "raw put", raw.single),
    line(`raw level: batches of ${parallel}, fsynced, entries`, raw.grouped),
    line(`transactions, ${parallel} at once`, own["grouped"], "raw entries", raw.grouped),
    line("raw level: getSync", raw.get),
    line("get", own["get"], "raw getSync", raw.get),
    line(`range over ${keyCount} keys, keys`, own["range"]),
    line("range, first 10 of them", own["page"]),
    line("range at an earlier revision, limit 500, keys", own["history"]),
    line("watch backlog, events", own["backlog"]),
    line("open, read and close a store", opening.open),
    line("create, read and close a store", opening.create),
    ...(etcd === undefined
      ? []
      : [
          line("etcd: transactions, one after the other", etcd["single"], "those on level", own["single"]),
          line(`etcd: transactions, ${parallel} at once`, etcd["grouped"], "those on level", own["grouped"]),
          line("etcd: the same, a quota far from its limit", etcd["far"], "without a quota", etcd["grouped"]),
          line("etcd: the same, a quota near its limit", etcd["near"], "without a quota", etcd["grouped"]),
          line("etcd: get, one after the other", etcd["get"], "that on level", own["get"]),
          line(`etcd: range over ${keyCount} keys, keys`, etcd["range"], "that on level", own["range"]),
          line("etcd: range, first 10 of them", etcd["page"], "that on level", own["page"]),
          line("etcd: watch backlog, events", etcd["backlog"], "that on level", own["backlog"]),
        ]),
  ])
} finally {
  await rm(root, { recursive: true, force: true })
}
