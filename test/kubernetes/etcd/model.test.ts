// Random operations do on a real etcd what they do in a plain model. Each opening is a connection of its own, which finds out
// anew where etcd is and up to where it has been compacted.

import { describe, test } from "vitest"
import { EtcdDatabase } from "../../../storage/etcd/database.ts"
import { modelBase, modelLimits, runModel } from "../../../storage/testing/store-model.ts"
import type { Store } from "../../../storage/types.ts"
import { lacks } from "../harness/needs.ts"
import { TestEtcd } from "./test-etcd.ts"

describe.skipIf(lacks(["etcd"]))("etcd store", () => {
  test.each([
    ["alone", undefined],
    ["on a base layer", modelBase],
  ] as const)("random operations do what a plain model does, %s", async (_, base) => {
    await using etcd = await TestEtcd.start()
    let database: EtcdDatabase | undefined
    const open = async (): Promise<Store> => {
      await database?.[Symbol.asyncDispose]()
      database = await EtcdDatabase.open({ servers: etcd.servers, limits: modelLimits })
      return database.openStore("model", base)
    }
    try {
      await runModel({ base, open, inOrder: false })
    } finally {
      await database?.[Symbol.asyncDispose]()
    }
  })
})
