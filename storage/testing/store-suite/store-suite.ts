// The guarantees of storage/types.ts as tests, for every implementation, with and without a base layer.

import { afterEach, describe } from "vitest"
import type { StoreLimits } from "../../limits.ts"
import type { BaseLayer, Store } from "../../types.ts"
import { createBaseLayer } from "../base-layer.ts"
import { backlog } from "./backlog.ts"
import { baseLayer } from "./base-layer.ts"
import { disposal } from "./disposal.ts"
import { bytes } from "./shorthand.ts"
import { history } from "./history.ts"
import { limits } from "./limits.ts"
import { ranges } from "./ranges.ts"
import { transactions } from "./transactions.ts"
import { watches } from "./watches.ts"

interface StoreSuite {
  name: string
  /** A new, empty store. The suite disposes of it. */
  open(options: { base?: BaseLayer; limits?: Partial<StoreLimits> }): Promise<Store>
}

export function storeSuite(suite: StoreSuite): void {
  const stores: Store[] = []
  const open = async (options: { base?: BaseLayer; limits?: Partial<StoreLimits> } = {}): Promise<Store> => {
    const store = await suite.open(options)
    stores.push(store)
    return store
  }
  afterEach(async () => {
    for (const store of stores.splice(0)) await store[Symbol.asyncDispose]()
  })
  const base = createBaseLayer([
    ["/zz/base", bytes("z")],
    ["/aa/base", bytes("a")],
  ])
  describe(suite.name, () => promises(() => open()))
  describe(`${suite.name} on a base layer`, () => promises(() => open({ base })))
  describe(`${suite.name}: base layer`, () => baseLayer(open))
  describe(`${suite.name}: limits`, () => limits(open))
  describe(`${suite.name}: backlog`, () => backlog(open))
}

function promises(open: () => Promise<Store>): void {
  describe("txn()", () => transactions(open))
  describe("range()", () => ranges(open))
  describe("history", () => history(open))
  describe("watch()", () => watches(open))
  describe("dispose", () => disposal(open))
}
