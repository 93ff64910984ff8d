// The watch of all changes was interrupted for so long that the history it needs has been compacted.

import { describe, expect, test, vi } from "vitest"
import { EtcdDatabase } from "../../../storage/etcd/database.ts"
import { EtcdStore } from "../../../storage/etcd/store.ts"
import type { Transaction, Watcher } from "../../../storage/types.ts"
import { lacks } from "../harness/needs.ts"
import { Relay } from "./relay.ts"
import { TestEtcd } from "./test-etcd.ts"

const put = (value: string): Transaction => ({
  compare: [],
  operations: [{ type: "put", key: "/x", value: Buffer.from(value) }],
})

describe.skipIf(lacks(["etcd"]))("changes that the process has not seen, and are compacted", () => {
  test("are not missing in the watch of a store that is opened while all start anew", async () => {
    await using etcd = await TestEtcd.start()
    const [server = ""] = etcd.servers
    await using relay = await Relay.start(server)
    await using database = await EtcdDatabase.open({ servers: [relay.url] })
    await using others = await EtcdDatabase.open({ servers: [server] })
    const direct = await others.openStore("asleep")
    await direct.txn(put("1"))
    const open = await database.openStore("open")
    const asleep = await database.openStore("asleep")
    const after = await asleep.latest()
    await asleep[Symbol.asyncDispose]()

    relay.mute()
    for (const value of ["2", "3", "4"]) await direct.txn(put(value))
    await direct.compact(await direct.latest())
    let watcher: Watcher | undefined
    using load = vi.spyOn(EtcdStore.prototype, "load")
    load.mockImplementationOnce(async () => {
      watcher = (await database.openStore("asleep")).watch("/", { after })
    })
    relay.reset()
    await open.latest()
    expect(load).toHaveBeenCalledTimes(2)
    await direct.txn(put("5"))
    await expect(watcher?.[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "Compacted" })
  })
})
