import { gunzipSync } from "node:zlib"
import { describe, expect, test, vi } from "vitest"
import { parseProtobuf } from "../../../apimachinery/schema/protobuf/parse.ts"
import { schemaOf } from "../../../apimachinery/schema/facts.ts"
import { builtInDefinitions } from "../../registry/definitions.ts"
import { encodeStored } from "../../registry/generic/storage/stored-form.ts"
import { StoredText, StoredValue } from "../../registry/generic/storage/stored-value.ts"
import type { KubeValue } from "../../registry/generic/storage/value.ts"
import { type Deflated, GzipJoin } from "./gzip-join.ts"
import { listBody, type Part, protobufListBody, wholeMessages, wholeTexts } from "./list-body.ts"
import { printed } from "./print.ts"
import { type Run, RunCache, runsOf } from "./run-cache.ts"
import { metadataMessages, partialMetadataList } from "./table-output.ts"

const found = builtInDefinitions().find(({ resource }) => resource === "configmaps")
if (found === undefined) throw new Error("there are no ConfigMaps")
const definition = found
const head = { kind: "ConfigMapList", apiVersion: "v1", metadata: { resourceVersion: "9" } }

const text = (index: number, revision: number): StoredText => {
  const metadata = { name: `c-${index}`, namespace: "a", labels: { index: String(index) } }
  return new StoredText(
    { value: encodeStored({ kind: "ConfigMap", apiVersion: "v1", metadata, data: { é: "x".repeat(index) } }) },
    revision,
  )
}

const texts = (count: number): StoredText[] => Array.from({ length: count }, (_, index) => text(index, index + 1))

/** New values of the same texts each time, as in lists. */
const values = (of: readonly StoredText[]): KubeValue[] => of.map((one) => new StoredValue(one))

const expected = (of: readonly StoredText[]): object[] =>
  values(of).map((value) => {
    const { kind: _kind, apiVersion: _version, ...item } = value.copy()
    return item
  })

/** The compressed parts. */
async function deflated(body: AsyncIterable<Part>): Promise<Deflated[]> {
  const parts: Deflated[] = []
  for await (const part of body) if (part.deflated !== undefined) parts.push(await part.deflated((job) => job()))
  return parts
}

async function joined(parts: AsyncIterable<Part>, compressed: boolean): Promise<Buffer> {
  const join = new GzipJoin()
  const sent: Uint8Array[] = compressed ? [join.begin()] : []
  for await (const part of parts) {
    if (!compressed) sent.push(part.bytes())
    else if (part.deflated === undefined) sent.push(join.stored(part.bytes()))
    else sent.push(join.deflated(await part.deflated((job) => job())))
  }
  return compressed ? gunzipSync(Buffer.concat([...sent, join.end()])) : Buffer.concat(sent)
}

describe.each([true, false])("compressed: %s", (compressed) => {
  test.each([0, 1, 500])("a list of %s contains all items, also from cached runs", async (count) => {
    const cache = new RunCache()
    const all = texts(count)
    for (let again = 0; again < 2; again++) {
      const body = await joined(listBody(head, wholeTexts(definition), [values(all)], cache), compressed)
      expect(JSON.parse(body.toString())).toEqual({ ...head, items: expected(all) })
    }
  })

  test("a list in protobuf contains all items, also when one has changed", async () => {
    const cache = new RunCache()
    const all = texts(300)
    const schema = schemaOf({ group: "", version: "v1", kind: "ConfigMapList" })
    if (schema === undefined) throw new Error("no schema")
    for (let changed = 0; changed < 3; changed++) {
      all[changed * 100] = text(changed, 1000 + changed)
      const items = wholeMessages(definition)
      const body = await joined(protobufListBody({}, head, items, { pieces: [values(all)] }, cache), compressed)
      const read = parseProtobuf(body, schema) as unknown as { items: object[] }
      expect(read.items.map((item) => (item as { metadata: object }).metadata)).toMatchObject(
        expected(all).map((item) => (item as { metadata: object }).metadata),
      )
    }
  })
})

test("who lists the same at the same time waits for the same compression", async () => {
  const cache = new RunCache()
  const all = texts(200)
  const lists = Array.from({ length: 3 }, () => deflated(listBody(head, wholeTexts(definition), [values(all)], cache)))
  const [first = [], ...others] = await Promise.all(lists)
  expect(first.length).toBeGreaterThan(1)
  for (const other of others) {
    expect(other.length).toBe(first.length)
    for (const [index, part] of other.entries()) expect(part).toBe(first[index])
  }
})

test("a compression that failed is tried again by the next request", async () => {
  const cache = new RunCache()
  const all = values(texts(1))
  const copy = vi.spyOn(all[0] as StoredValue, "copyTo").mockImplementationOnce(() => {
    throw new Error("no memory")
  })
  const body = (): AsyncIterable<Part> => listBody(head, wholeTexts(definition), [all], cache)
  await expect(deflated(body())).rejects.toThrow("no memory")
  expect(await deflated(body())).toHaveLength(1)
  expect(copy).toHaveBeenCalledTimes(2)
})

test("a list in protobuf that is longer than what is kept is encoded in two passes", async () => {
  const data = "x".repeat(1_000_000)
  const all = Array.from({ length: 20 }, (_, index) => {
    const metadata = { name: `c-${index}`, namespace: "a" }
    return new StoredText(
      { value: encodeStored({ kind: "ConfigMap", apiVersion: "v1", metadata, data: { data } }) },
      index + 1,
    )
  })
  const items = wholeMessages(definition)
  let passes = 0
  const again = (): Promise<Run[]> => {
    passes++
    return Promise.resolve([values(all.slice(0, 7)), values(all.slice(7))])
  }
  const once = await joined(protobufListBody({}, head, items, { pieces: [values(all)] }, new RunCache(1)), false)
  const twice = protobufListBody({}, head, items, { pieces: [values(all)], again }, new RunCache(1))
  expect((await joined(twice, false)).equals(once)).toBe(true)
  expect(passes).toBe(1)
})

describe("a list of metadata in protobuf", () => {
  const apiVersion = "meta.k8s.io/v1"
  const metaHead = { kind: "PartialObjectMetadataList", apiVersion, metadata: { resourceVersion: "9", continue: "c" } }

  test("equals the same list encoded at once", async () => {
    const all = texts(150)
    const body = joined(
      protobufListBody({}, metaHead, metadataMessages(apiVersion), { pieces: [values(all)] }, new RunCache()),
      false,
    )
    const objects = values(all).map((value) => value.peek())
    const whole = partialMetadataList(objects, metaHead.metadata, apiVersion)
    expect((await body).equals(printed(whole, { format: "protobuf", pretty: false }))).toBe(true)
  })

  test("yields to other requests, and ends when its client disconnects", async () => {
    let pauses = 0
    const ctx = {
      pause: (): undefined => void pauses++,
      get isOver() {
        return pauses > 3
      },
    }
    const parts = protobufListBody(
      ctx,
      metaHead,
      metadataMessages(apiVersion),
      { pieces: [values(texts(900))] },
      new RunCache(),
    )
    await expect(joined(parts, false)).rejects.toThrow("request did not complete")
    expect(pauses).toBe(4)
  })
})

describe("runs", () => {
  const collect = async (pieces: Iterable<Run>): Promise<Run[]> => {
    const runs: Run[] = []
    for await (const run of runsOf(pieces)) runs.push(run)
    return runs
  }
  const names = (run: Run): object[] => run.map(({ identity }) => identity)

  test("do not depend on the pieces of the list, and only the run of a changed object changes", async () => {
    const all = texts(2000)
    const whole = (await collect([values(all)])).map(names)
    const inPieces = (await collect([values(all.slice(0, 501)), values(all.slice(501))])).map(names)
    expect(inPieces).toEqual(whole)
    const without = new Set((await collect([values(all.toSpliced(0, 1))])).slice(1).map((run) => run[0]?.identity))
    expect(whole.slice(2).every(([first]) => without.has(first as StoredText))).toBe(true)
  })

  test("are cached while they are unchanged, and the least recently used are evicted first", () => {
    const cache = new RunCache(100_000)
    const all = texts(40)
    const encoded = { bytes: Buffer.alloc(30_000) }
    const [a, b, c, d] = [0, 10, 20, 30].map((from) => all.slice(from, from + 10)) as StoredText[][]
    for (const run of [a, b, c]) cache.put("form", values(run ?? []), encoded)
    expect(cache.get("form", values(a ?? []))).toBe(encoded)
    expect(cache.get("other", values(a ?? []))).toBeUndefined()
    expect(cache.get("form", values((a ?? []).slice(0, 9)))).toBeUndefined()
    expect(cache.get("form", values([...(a ?? []).slice(0, 9), text(0, 5)]))).toBeUndefined()
    cache.put("form", values(d ?? []), encoded)
    expect(cache.get("form", values(b ?? []))).toBeUndefined()
    expect(cache.get("form", values(a ?? []))).toBe(encoded)
  })
})
