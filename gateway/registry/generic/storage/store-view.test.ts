import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { silentLog } from "../../../../client/log.ts"
import { openLevelStore } from "../../../../storage/level/store.ts"
import type { Operation, Store } from "../../../../storage/types.ts"
import { StoreView } from "./store-view.ts"

const prefix = "/registry/things/"
const put = (name: string, text = name): Operation => ({
  type: "put",
  key: prefix + name,
  value: Buffer.from(JSON.stringify({ text: text.padEnd(300) })),
})

async function filledStore(stack: AsyncDisposableStack, residentBytes: number): Promise<Store> {
  const directory = await mkdtemp(join(tmpdir(), "polyplane-view-"))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const store: Store = stack.use(await openLevelStore({ directory, limits: { residentBytes } }))
  for (let batch = 0; batch < 8; batch++) {
    const operations = Array.from({ length: 1000 }, (_, index) => put(`${batch}-${index}`))
    await store.txn({ compare: [], operations })
  }
  return store
}

function viewOf(store: Store): StoreView<Map<string, string>> {
  return new StoreView<Map<string, string>>({
    store,
    prefix,
    log: silentLog,
    create: () => new Map(),
    put: (state, { key, value }) => {
      const { text } = JSON.parse(Buffer.from(value).toString()) as { text: string }
      state.set(key.slice(prefix.length), text.trim())
    },
    delete: (state, key) => void state.delete(key.slice(prefix.length)),
  })
}

test.each([
  ["in memory", 1e9],
  ["on disk", 0],
])("a view of a store %s has every acknowledged write, also of the time when it was read", async (_, residentBytes) => {
  await using stack = new AsyncDisposableStack()
  const store = await filledStore(stack, residentBytes)
  const view = stack.use(viewOf(store))
  const written = new Map<string, string>()
  let isOpen = false
  const writing = (async () => {
    for (let index = 0; !isOpen; index++) {
      const name = `${index % 8}-${(index * 7) % 1000}`
      await store.txn({ compare: [], operations: [put(name, `new ${index}`), put(`more-${index}`)] })
      written.set(name, `new ${index}`).set(`more-${index}`, `more-${index}`)
    }
  })()
  const state = await view.opened()
  isOpen = true
  expect(Object.fromEntries([...written.keys()].map((name) => [name, state.get(name)]))).toEqual(
    Object.fromEntries(written),
  )
  await writing
  await store.txn({ compare: [], operations: [{ type: "delete", key: `${prefix}0-0` }] })
  const { items } = await store.range(prefix)
  expect([...state.keys()].sort()).toEqual(items.map(({ key }) => key.slice(prefix.length)).sort())
})

test("others have their turn while a view of many objects is read", async () => {
  await using stack = new AsyncDisposableStack()
  const store = await filledStore(stack, 1e9)
  const view = stack.use(viewOf(store))
  let turns = 0
  const count = (): void => {
    if (view.state === undefined) setImmediate(count)
    turns++
  }
  count()
  await view.opened()
  expect(turns).toBeGreaterThan(2)
})

/** Its first watches end in the next turn of the event loop, or at once. */
function losing(store: Store, { watches, inTurn }: { watches: number; inTurn: boolean }): Store & { begun: number } {
  const unreliable = {
    begun: 0,
    get revision() {
      return store.revision
    },
    range: (...request: Parameters<Store["range"]>) => store.range(...request),
    watch(...request: Parameters<Store["watch"]>) {
      const watcher = store.watch(...request)
      if (unreliable.begun++ >= watches) return watcher
      if (inTurn) setImmediate(() => watcher.close())
      else watcher.close()
      return watcher
    },
  }
  return unreliable as unknown as Store & { begun: number }
}

test.each([true, false])(
  "a view that loses its watch while it is read is read again (in a turn: %j)",
  async (inTurn) => {
    await using stack = new AsyncDisposableStack()
    const store = await filledStore(stack, 1e9)
    const unreliable = losing(store, { watches: 1, inTurn })
    const view = stack.use(viewOf(unreliable))
    const state = await view.opened()
    expect([unreliable.begun, view.state]).toEqual([2, state])
    await store.txn({ compare: [], operations: [put("late")] })
    expect(state.get("late")).toBe("late")
  },
)

test.each([true, false])(
  "a view whose watches all end has been read for its readers (in a turn: %j)",
  async (inTurn) => {
    await using stack = new AsyncDisposableStack()
    const store = await filledStore(stack, 1e9)
    const view = stack.use(viewOf(losing(store, { watches: 6, inTurn })))
    for (const name of ["one", "two", "three"]) {
      await store.txn({ compare: [], operations: [put(name)] })
      expect((await view.opened()).get(name)).toBe(name)
      expect(view.state).toBeUndefined()
    }
    const state = await view.opened()
    expect(view.state).toBe(state)
  },
)

test("a view of a closed store says what a request says: the server is unavailable", async () => {
  await using stack = new AsyncDisposableStack()
  const store = await filledStore(stack, 0)
  const view = stack.use(viewOf(store))
  await store[Symbol.asyncDispose]()
  await expect(view.opened()).rejects.toMatchObject({ code: 503, message: `read ${prefix}: the store is closed` })
})
