// The connection itself: TLS, names that one process holds, and what is compacted while nobody looks.

import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { etcdOfSection } from "../../../cli/storage.ts"
import { silentLog } from "../../../client/log.ts"
import { FakeClock } from "../../../client/testing/fake-clock.ts"
import { createAuthority, issueClientCertificate, issueServingCertificate } from "../../../gateway/pki/pki.ts"
import { EtcdStorage } from "../../../gateway/stores/etcd-storage.ts"
import { EtcdDatabase } from "../../../storage/etcd/database.ts"
import { HeldError } from "../../../storage/etcd/lease.ts"
import { StorageError, type Store } from "../../../storage/types.ts"
import { eventually } from "../../harness/eventually.ts"
import { lacks } from "../harness/needs.ts"
import { TestEtcd } from "./test-etcd.ts"

const put = (store: Store, key: string, value: string) =>
  store.txn({ compare: [], operations: [{ type: "put", key, value: Buffer.from(value) }] })

describe.skipIf(lacks(["etcd"]))("a connection to etcd", () => {
  test("goes over TLS with a certificate on either side", async () => {
    const authority = await createAuthority("etcd")
    const serving = await issueServingCertificate(authority, ["127.0.0.1", "localhost"])
    const client = await issueClientCertificate(authority, { name: "polyplane", groups: [] })
    await using etcd = await TestEtcd.start({ tls: { certificateAuthority: authority.certificate, serving, client } })
    const certificateAuthority = Buffer.from(authority.certificate)
    const tls = { certificateAuthority, certificate: Buffer.from(client.certificate), key: Buffer.from(client.key) }
    await using database = await EtcdDatabase.open({ servers: etcd.servers, tls })
    const store = await database.openStore("tenant")
    await put(store, "/a", "1")
    expect(Buffer.from((await store.get("/a"))?.value ?? []).toString()).toBe("1")
    const strangers = EtcdDatabase.open({
      servers: etcd.servers,
      tls: { certificateAuthority },
      etcdLimits: { attemptMs: 1_000, callMs: 1_000 },
    })
    await expect(strangers).rejects.toThrow(StorageError)
  })

  test("goes on with files that have been replaced, once they fit together", { timeout: 120_000 }, async () => {
    const [authority, other] = [await createAuthority("etcd"), await createAuthority("other")]
    const serving = await issueServingCertificate(authority, ["127.0.0.1", "localhost"])
    const client = await issueClientCertificate(authority, { name: "polyplane", groups: [] })
    const stranger = await issueClientCertificate(other, { name: "polyplane", groups: [] })
    await using etcd = await TestEtcd.start({ tls: { certificateAuthority: authority.certificate, serving, client } })
    const directory = await mkdtemp(join(tmpdir(), "polyplane-etcd-"))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const file = (name: string): string => join(directory, name)
    const write = async (certificate: string, key: string): Promise<void> => {
      await writeFile(file("tls.crt"), certificate)
      await writeFile(file("tls.key"), key)
    }
    await writeFile(file("ca.crt"), authority.certificate)
    await write(client.certificate, client.key)
    const files = { certificateAuthority: file("ca.crt"), certificate: file("tls.crt"), key: file("tls.key") }
    const options = await etcdOfSection({ servers: [...etcd.servers], ...files })
    const clock = new FakeClock()
    const messages: string[] = []
    const note = (_: object, message: string): void => void messages.push(message)
    const log = { ...silentLog, info: note, warn: note }
    await using storage = await EtcdStorage.open(options, {}, { log, clock })
    const later = async (): Promise<void> => {
      messages.length = 0
      clock.advance(60_000)
      await eventually(() => clock.timers === 1 && messages.some((message) => message.includes("certificate for etcd")))
    }
    await write(stranger.certificate, client.key)
    await later()
    expect(messages).toContain("the certificate for etcd cannot be reloaded; retrying")
    await etcd.kill(0)
    await etcd.startMember(0)
    await eventually(() =>
      put(storage.store, "/a", "1").then(
        () => true,
        () => false,
      ),
    )
    await write(stranger.certificate, stranger.key)
    await later()
    await etcd.kill(0)
    await etcd.startMember(0)
    await expect(storage.store.txn({ compare: [{ key: "/a", modRevision: 0 }], operations: [] })).rejects.toThrow(
      StorageError,
    )
    await write(client.certificate, client.key)
    await later()
    await eventually(() =>
      put(storage.store, "/a", "2").then(
        () => true,
        () => false,
      ),
    )
  })

  test("holds a name alone, until it lets go or its process has ended", async () => {
    await using etcd = await TestEtcd.start()
    await using first = await EtcdDatabase.open({ servers: etcd.servers })
    await using second = await EtcdDatabase.open({ servers: etcd.servers })
    const times = { ttlSeconds: 5, waitMs: 200 }
    const held = await first.hold("name", "the first", times)
    await expect(second.hold("name", "the second", times)).rejects.toThrow(new HeldError("name", "the first"))
    await held[Symbol.asyncDispose]()
    const taken = await second.hold("name", "the second", times)
    expect(taken.lost.aborted).toBe(false)
    await taken[Symbol.asyncDispose]()
  })

  test("stores of one database see only their own, and each its own revisions", async () => {
    await using etcd = await TestEtcd.start()
    await using database = await EtcdDatabase.open({ servers: etcd.servers })
    const [one, other] = [await database.openStore("1"), await database.openStore("11")]
    await put(one, "/a", "one")
    await put(other, "/a", "other")
    expect((await one.range("/")).items.map(({ value }) => Buffer.from(value).toString())).toEqual(["one"])
    await database.removeStore("1")
    expect((await one.range("/")).items).toEqual([])
    expect((await other.range("/")).items).toHaveLength(1)
  })

  test("what is larger than etcd's own limits is refused as too large, also by its server", async () => {
    await using etcd = await TestEtcd.start()
    await using database = await EtcdDatabase.open({ servers: etcd.servers })
    const store = await database.openStore("tenant")
    const tooLarge = expect.objectContaining({ code: "TooLarge" })
    for (const mebibytes of [1.6, 2.5, 3.2])
      await expect(put(store, "/a", "x".repeat(mebibytes * 1024 * 1024))).rejects.toEqual(tooLarge)
    const operations = Array.from({ length: 129 }, (_, i) => ({
      type: "put" as const,
      key: `/${i}`,
      value: Buffer.alloc(0),
    }))
    await expect(store.txn({ compare: [], operations })).rejects.toEqual(tooLarge)
    expect((await store.range("/")).items).toEqual([])
  })

  test("without space nothing is written, but read and deleted, and names are not given", async () => {
    await using etcd = await TestEtcd.start({ flags: [`--quota-backend-bytes=${16 * 1024 * 1024}`] })
    await using database = await EtcdDatabase.open({ servers: etcd.servers })
    const store = await database.openStore("tenant")
    const unavailable = expect.objectContaining({ code: "Unavailable" })
    const fill = async (): Promise<void> => {
      for (let i = 0; i < 32; i++) await put(store, `/${i}`, "x".repeat(1024 * 1024))
    }
    await expect(fill()).rejects.toEqual(unavailable)
    await expect(database.hold("name", "holder", { ttlSeconds: 5, waitMs: 0 })).rejects.toEqual(unavailable)
    expect((await store.get("/1"))?.key).toBe("/1")
    await store.txn({ compare: [], operations: [{ type: "delete", key: "/1" }] })
    expect(await store.get("/1")).toBeUndefined()
    await database.removeStore("tenant")
    expect((await store.range("/")).items).toEqual([])
  })

  test("a store is removed in pieces, so that others need not wait for all of it", async () => {
    await using etcd = await TestEtcd.start()
    await using database = await EtcdDatabase.open({ servers: etcd.servers })
    const store = await database.openStore("tenant")
    const values = 40
    for (let i = 0; i < values; i++) await put(store, `/${i}`, "x".repeat(256 * 1024))
    const after = store.revision
    await database.removeStore("tenant")
    expect((await store.range("/")).items).toEqual([])
    const pieces = new Map<number, number>()
    let left = values
    for await (const events of store.watch("/", { after })) {
      for (const { current } of events) pieces.set(current.modRevision, (pieces.get(current.modRevision) ?? 0) + 1)
      if ((left -= events.length) === 0) break
    }
    expect(Math.max(...pieces.values())).toBeLessThanOrEqual(16)
  })

  test("a store in which nothing happened is watched from before a compaction, one that changed is not", async () => {
    await using etcd = await TestEtcd.start()
    await using database = await EtcdDatabase.open({ servers: etcd.servers })
    const [quiet, busy] = [await database.openStore("quiet"), await database.openStore("busy")]
    const { revision } = await put(quiet, "/a", "1")
    for (let i = 0; i < 20; i++) await put(busy, "/a", String(i))
    await busy.compact(busy.revision)
    await expect(busy.watch("/", { after: revision })[Symbol.asyncIterator]().next()).rejects.toThrow(StorageError)
    await quiet[Symbol.asyncDispose]()
    const again = await database.openStore("quiet")
    const next = again.watch("/", { after: revision })[Symbol.asyncIterator]().next()
    await put(again, "/a", "2")
    const batch = await next
    expect(batch.done === true ? [] : batch.value.map(({ current }) => Buffer.from(current.value).toString())).toEqual([
      "2",
    ])
  })

  test("a watch that was disconnected during a compaction restarts and reports it", { timeout: 120_000 }, async () => {
    await using etcd = await TestEtcd.start({ members: 3 })
    await using database = await EtcdDatabase.open({ servers: etcd.servers.slice(0, 1) })
    await using elsewhere = await EtcdDatabase.open({ servers: etcd.servers.slice(1) })
    const [here, there] = [await database.openStore("tenant"), await elsewhere.openStore("tenant")]
    const watcher = here.watch("/", { after: here.revision })
    const ended = expect(watcher[Symbol.asyncIterator]().next()).rejects.toThrow(StorageError)
    await etcd.kill(0)
    // A write that was under way when a leader died has no known outcome: it may fail, and is then written again.
    for (let i = 0; i < 20; i++) await eventually(() => put(there, "/a", String(i)))
    await there.compact(there.revision)
    await etcd.startMember(0)
    await ended
    await eventually(() => here.revision >= there.revision)
    expect((await here.range("/")).items).toHaveLength(1)
  })
})
