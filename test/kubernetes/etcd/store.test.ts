// The promises of every store, on a real etcd: one of its own for each, since its revisions count from one then.

import { afterEach, describe } from "vitest"
import { EtcdDatabase } from "../../../storage/etcd/database.ts"
import { storeSuite } from "../../../storage/testing/store-suite/store-suite.ts"
import { lacks } from "../harness/needs.ts"
import { TestEtcd } from "./test-etcd.ts"

describe.skipIf(lacks(["etcd"]))("on a real etcd", () => {
  const open: AsyncDisposable[] = []
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]()
  })

  storeSuite({
    name: "etcd store",
    async open({ base, limits = {} }) {
      const etcd = await TestEtcd.start()
      open.push(etcd)
      const { historyRevisions = 0, historyBytes = 0 } = limits
      const database = await EtcdDatabase.open({
        servers: etcd.servers,
        limits,
        etcdLimits: { historyRevisions, historyBytes },
      })
      open.push(database)
      return database.openStore("store", base)
    },
  })
})
