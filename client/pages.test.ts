import { expect, test } from "vitest"
import type { KubeObject } from "../apimachinery/object.ts"
import { expired } from "../apimachinery/status.ts"
import { listAll, pagesOf } from "./pages.ts"
import { configMaps } from "./resources.ts"
import type { ListOptions, ListWatch } from "./rest.ts"

const config = (name: string): KubeObject => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } })
const names = ["a", "b", "c", "d", "e"]

/** Two objects per page; `asked` gets the options of each call. */
function inPages(asked: ListOptions[], failsAt = ""): Pick<ListWatch, "list"> {
  return {
    async list<T extends KubeObject>(_resource: unknown, options: ListOptions = {}) {
      asked.push(options)
      if (failsAt !== "" && options.continue === failsAt) throw expired("too old")
      const from = Number(options.continue ?? 0)
      const next = from + 2 < names.length ? { continue: String(from + 2) } : { continue: "" }
      const items = names.slice(from, from + 2).map(config) as T[]
      return { apiVersion: "v1", kind: "List", metadata: { resourceVersion: "7", ...next }, items }
    },
  }
}

test("a list is read page by page, with the same selection", async () => {
  const asked: ListOptions[] = []
  const all = await listAll(inPages(asked), configMaps, { namespace: "n", labelSelector: "a=b" })
  expect(all.map(({ metadata }) => metadata.name)).toEqual(names)
  const same = { namespace: "n", labelSelector: "a=b", limit: 500 }
  expect(asked).toEqual([same, { ...same, continue: "2" }, { ...same, continue: "4" }])
})

test("pages are not asked for that nobody reads", async () => {
  const asked: ListOptions[] = []
  for await (const { items } of pagesOf(inPages(asked), configMaps)) {
    expect(items).toHaveLength(2)
    break
  }
  expect(asked).toHaveLength(1)
})

test("a list that the server has forgotten is expired", async () => {
  await expect(listAll(inPages([], "2"), configMaps)).rejects.toMatchObject({ status: { reason: "Expired" } })
})
