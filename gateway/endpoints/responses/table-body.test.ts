import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { printJson } from "../../../apimachinery/go/print.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { Age } from "../../registry/columns/age.ts"
import { columnsOf } from "../../registry/columns.ts"
import { builtInDefinitions } from "../../registry/definitions.ts"
import { encodeStored } from "../../registry/generic/storage/stored-form.ts"
import { StoredText, StoredValue } from "../../registry/generic/storage/stored-value.ts"
import { ComputedValue, type KubeValue } from "../../registry/generic/storage/value.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import { listBody, type Part } from "./list-body.ts"
import { RunCache } from "./run-cache.ts"
import { tableBody } from "./table-body.ts"
import { metadataTexts, partialMetadataList, table, type TableOptions } from "./table-output.ts"

const metaVersion = "meta.k8s.io/v1"
const meta = { resourceVersion: "9" }

function definitionOf(resource: string): ResourceDefinition {
  const found = builtInDefinitions().find((definition) => definition.resource === resource)
  if (found === undefined) throw new Error(`there are no ${resource}`)
  return found
}

const pods = definitionOf("pods")

function pod(index: number): KubeObject {
  const time = new Date(Date.UTC(2026, 0, 1) - index * 60_000).toISOString().replace(".000", "")
  const restarts = { restartCount: index % 3, lastState: { terminated: { exitCode: 1, finishedAt: time } } }
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: {
      name: `p-${index}`,
      namespace: "a",
      creationTimestamp: index % 50 === 0 ? null : time,
      annotations: { note: 'ü "}],' },
      managedFields: [{ manager: "m", operation: "Update", fieldsType: "FieldsV1", fieldsV1: { "f:spec": {} } }],
    },
    spec: { containers: [{ name: "c", image: "i" }] },
    status: { phase: index % 7 === 0 ? "Succeeded" : "Running", reason: "née <é>", containerStatuses: [restarts] },
  } as unknown as KubeObject
}

const texts = (objects: readonly KubeObject[]): StoredText[] =>
  objects.map((object, index) => new StoredText({ value: encodeStored(object) }, index + 1))
/** New values of the same texts each time, as in lists. */
const values = (of: readonly StoredText[]): KubeValue[] => of.map((one) => new StoredValue(one))

async function textOf(parts: AsyncIterable<Part>): Promise<string> {
  const bytes: Uint8Array[] = []
  for await (const part of parts) bytes.push(Buffer.from(part.bytes()))
  return Buffer.concat(bytes).toString()
}

function body(all: readonly KubeValue[], cache: RunCache, options: Partial<TableOptions> = {}, definition = pods) {
  return tableBody({}, definition, meta, { include: "Metadata", metaVersion, ...options }, [all], cache)
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 2) }))
afterEach(() => void vi.useRealTimers())

describe.each(["None", "Metadata", "Object"] as const)("a table with objects: %s", (include) => {
  test.each([0, 1, 300])("has the rows of %s objects, also when they are a day older", async (count) => {
    const all = texts(Array.from({ length: count }, (_, index) => pod(index)))
    const cache = new RunCache()
    for (let day = 0; day < 2; day++) {
      const objects = values(all).map((value) => value.object())
      const options = { include, metaVersion }
      const expected = table(objects, pods.columns, meta, options, true, Date.now())
      const text = await textOf(body(values(all), cache, options))
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(expected)))
      expect(text).not.toContain("<")
      vi.setSystemTime(Date.now() + 86_400_000)
    }
  })
})

test("rows that are kept are not read again", async () => {
  const all = texts(Array.from({ length: 200 }, (_, index) => pod(index)))
  const cache = new RunCache()
  await textOf(body(values(all), cache))
  const again = values(all)
  const peeks = again.map((value) => vi.spyOn(value as StoredValue, "peek"))
  await textOf(body(again, cache))
  for (const peek of peeks) expect(peek).not.toHaveBeenCalled()
})

test("columns that are replaced show the same objects anew", async () => {
  const all = texts([pod(1), pod(2)])
  const cache = new RunCache()
  await textOf(body(values(all), cache))
  const columns = columnsOf("", "pods").slice(0, 1)
  const text = await textOf(body(values(all), cache, {}, { ...pods, columns }))
  expect((JSON.parse(text) as { rows: { cells: unknown[] }[] }).rows.map(({ cells }) => cells)).toEqual([
    ["p-1"],
    ["p-2"],
  ])
})

test("long rows are sent in parts, with turns between any two", async () => {
  const long = "x".repeat(300_000)
  const columns = [{ ...columnsOf("", "pods")[0]!, cell: () => long }]
  const all = values(texts(Array.from({ length: 50 }, (_, index) => pod(index))))
  let turns = 0
  const ctx = { pause: (): undefined => void turns++ }
  const options = { include: "None", metaVersion } as const
  const cache = new RunCache()
  let longest = 0
  for await (const { length } of tableBody(ctx, { ...pods, columns }, meta, options, [all], cache))
    longest = Math.max(longest, length)
  expect(longest).toBeGreaterThan(long.length)
  expect(longest).toBeLessThan(3 * long.length)
  expect(turns).toBeGreaterThanOrEqual(all.length)
})

test("a row that is too long is refused, before the columns after it are printed", async () => {
  const long = "x".repeat(1024 * 1024)
  let printed = 0
  const cell = (): string => {
    printed++
    return long
  }
  const columns = Array.from({ length: 100 }, () => ({ ...columnsOf("", "pods")[0]!, cell }))
  const parts = body(values(texts([pod(1)])), new RunCache(), {}, { ...pods, columns })
  await expect(textOf(parts)).rejects.toMatchObject({ status: { code: 413 } })
  expect(printed).toBe(4)
})

test("cells of all kinds and lengths are those of the table, also after waiting for room", async () => {
  const [name] = columnsOf("", "pods")
  const cells = [
    new Age(0, "3 (", " ago)"),
    "a<b>&\u2028",
    'é"😀\ud800'.repeat(14_000),
    7n,
    new Age(5),
    new Age(7),
    null,
  ]
  const orders = [cells, cells.toReversed(), [...cells, "x".repeat(8192)], [cells[0]!], ["x".repeat(100_000)]]
  for (const order of orders) {
    const columns = order.map((cell) => ({ ...name!, cell: () => cell }))
    const all = values(texts(Array.from({ length: 40 }, (_, index) => pod(index))))
    let waits = 0
    const ctx = { enlarge: () => (waits++ === 0 ? Promise.resolve() : undefined) }
    const options = { include: "None", metaVersion } as const
    const text = await textOf(tableBody(ctx, { ...pods, columns }, meta, options, [all], new RunCache()))
    const objects = all.map((value) => value.object())
    const expected = printJson(table(objects, columns, meta, options, true, Date.now()))
    expect(text === `${expected}\n`, `${order.length} cells`).toBe(true)
  }
})

test("whoever waits until it may hold long rows holds none, and prints them again", async () => {
  const printed: string[] = []
  const cell = ({ metadata: { name = "" } }: KubeObject): string => {
    printed.push(name)
    return "x".repeat(400_000)
  }
  const columns = [{ ...columnsOf("", "pods")[0]!, cell }]
  const all = values(texts([1, 2, 3].map(pod)))
  let waits = 0
  const ctx = { enlarge: () => (waits++ === 0 ? Promise.resolve() : undefined) }
  const options = { include: "None", metaVersion } as const
  await textOf(tableBody(ctx, { ...pods, columns }, meta, options, [all], new RunCache()))
  const first = printed.slice(0, printed.lastIndexOf("p-1"))
  expect(first.length).toBeGreaterThan(0)
  expect(printed.slice(first.length)).toEqual(["p-1", "p-2", "p-3"])
})

test("a cell without a value is null", async () => {
  const columns = [{ ...columnsOf("", "pods")[0]!, cell: () => undefined as unknown as null }]
  const text = await textOf(body(values(texts([pod(1)])), new RunCache(), { include: "None" }, { ...pods, columns }))
  expect(JSON.parse(text)).toMatchObject({ rows: [{ cells: [null], object: null }] })
})

test("metadata is that of the objects, without annotations that are derived from other fields", async () => {
  const definition = definitionOf("daemonsets")
  const objects = ["deprecated.daemonset.template.generation", "other"].map((name, index) => ({
    kind: "DaemonSet",
    apiVersion: "apps/v1",
    metadata: { name: `d-${index}`, annotations: { [name]: "1", kept: "é}" } },
  }))
  const all = [...values(texts(objects)), new ComputedValue({ ...objects[1]! })]
  const peeks = all.map((value) => vi.spyOn(value, "peek"))
  const head = { kind: "PartialObjectMetadataList", apiVersion: metaVersion, metadata: meta }
  const items = metadataTexts(definition, metaVersion)
  const text = await textOf(listBody(head, items, [all], new RunCache(), "null"))
  for (const peek of peeks) expect(peek).not.toHaveBeenCalled()
  const expected = partialMetadataList(
    all.map((value) => value.peek()),
    meta,
    metaVersion,
  )
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(expected)))
  expect(text).not.toContain("deprecated")
  expect(JSON.parse(await textOf(listBody(head, items, [], new RunCache(), "null")))).toEqual({ ...head, items: null })
})

test("computed values, which no other request has, are not kept", () => {
  const cache = new RunCache()
  const run = [new ComputedValue(pod(1))]
  cache.put("form", run, { bytes: Buffer.from("x") })
  expect(cache.get("form", run)).toBeUndefined()
})

test("an age is the text around the time since then", () => {
  expect(new Age(0, "3 (", " ago)").text(5000)).toBe("3 (5s ago)")
})
