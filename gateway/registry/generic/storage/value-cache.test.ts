import { describe, expect, test } from "vitest"
import type { ConfigMap, KubeObject } from "../../../../apimachinery/object.ts"
import { configMaps } from "../../../../client/resources.ts"
import { TenantInformer } from "../../../../client/informers/tenant-informer.ts"
import { startTestGateway } from "../../../testing/start-gateway.ts"
import { asParsed, encodeStored } from "./stored-form.ts"
import { ValueCache } from "./value-cache.ts"

const object = (text: string): KubeObject => ({
  kind: "ConfigMap",
  apiVersion: "v1",
  metadata: { name: "a", namespace: "b" },
  data: { text, odd: JSON.parse('{"__proto__":1}') as object, none: undefined },
})

const storedOf = (value: Uint8Array, modRevision: number) => ({ key: "k", value, createRevision: 1, modRevision })

describe("a written value", () => {
  test.each(["the watch", "the writer"])("equals its parsed bytes for %s, without parsing them", (first) => {
    const cache = new ValueCache(100_000)
    const bytes = encodeStored(object("x"))
    const written = storedOf(bytes, 7)
    cache.writing(bytes, asParsed(object("x")))
    // The store notifies watches with an entry object of its own, before the write returns.
    const followed = first === "the writer" ? undefined : cache.passing({ ...written }).object()
    cache.written(bytes, written)
    const value = cache.of(written)
    const parsed = new ValueCache(100_000).of(written).object()
    expect(value.object()).toEqual(parsed)
    expect(JSON.stringify(value.object())).toBe(JSON.stringify(parsed))
    if (followed !== undefined) expect(value.object()).toBe(followed)
    expect(Object.isFrozen(value.object().metadata)).toBe(true)
  })

  test("is the same object for its writer and for informers", async () => {
    await using fixture = await startTestGateway()
    const { tenants } = fixture.gateway
    await fixture.createTenant("a")
    const stop = new AbortController()
    const informer = new TenantInformer<ConfigMap>(tenants, configMaps)
    informer.start(stop.signal)
    const client = tenants.client("a")
    const metadata = { name: "shared", namespace: "default" }
    const followed = (version: string | undefined): Promise<ConfigMap> =>
      expect
        .poll(() => informer.get("a", "default", "shared"))
        .toMatchObject({ metadata: { resourceVersion: version } })
        .then(() => informer.get("a", "default", "shared") as ConfigMap)
    const made = await client.create<ConfigMap>(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata })
    expect(await followed(made.metadata.resourceVersion)).toBe(made)
    const change = { data: { a: "b" } }
    const changed = await client.patch<ConfigMap>(configMaps, "default", "shared", change, { type: "merge" })
    expect(await followed(changed.metadata.resourceVersion)).toBe(changed)
    stop.abort()
  })

  test("is not parsed again after eviction while an informer holds it", () => {
    const cache = new ValueCache(1_000)
    const bytes = encodeStored(object("x"))
    const stored = storedOf(bytes, 7)
    cache.writing(bytes, asParsed(object("x")))
    const informed = cache.passing(stored).held()
    cache.written(bytes, stored)
    cache.of({ ...storedOf(encodeStored(object("y")), 8), key: "other" })
    cache.of({ ...storedOf(encodeStored(object("z")), 9), key: "third" })
    expect(cache.of(stored).object()).toBe(informed)
    expect(cache.of(stored).copy()).toEqual(informed)
    expect(cache.of(stored).copy()).not.toBe(informed)
  })

  test("leaves nothing in the cache when the write fails", () => {
    const cache = new ValueCache(100_000)
    const bytes = encodeStored(object("x"))
    cache.writing(bytes, asParsed(object("never")))
    cache.written(bytes, undefined)
    expect(cache.of(storedOf(bytes, 7)).object()["data"]).toMatchObject({ text: "x" })
  })

  test("that exceeds the cache is not parsed again while an informer holds it", () => {
    const cache = new ValueCache(1)
    const text = "x".repeat(40_000)
    const bytes = encodeStored(object(text))
    const [stored, read] = [storedOf(bytes, 7), storedOf(bytes, 7)]
    cache.writing(bytes, asParsed(object(text)))
    const cached = cache.passing(stored).object()
    expect(cache.passing(stored).object()).toBe(cached)
    cache.written(bytes, read)
    expect(cache.of(read).object()).toBe(cached) // the writer's
    const later = storedOf(bytes, 7)
    const informed = cache.passing(later).held()
    expect(informed).not.toBe(cached)
    expect(cache.of(later).object()).toBe(informed)
  })

  test("that exceeds the cache is returned unchanged by every read", () => {
    const cache = new ValueCache(1)
    const bytes = encodeStored(object("x"))
    cache.writing(bytes, asParsed(object("x")))
    for (let again = 0; again < 2; again++) {
      expect(cache.passing(storedOf(bytes, 7)).object().metadata).toMatchObject({ name: "a", resourceVersion: "7" })
    }
    cache.written(bytes, storedOf(bytes, 7))
  })
})

test("above the byte limit, the least recently used values are evicted with their parsed forms", () => {
  const cache = new ValueCache(3000)
  const all = Array.from({ length: 10 }, (_, index) => ({
    ...storedOf(encodeStored(object(`${index}`)), index + 1),
    key: String(index),
  }))
  const [first] = all
  if (first === undefined) throw new Error("nothing")
  const value = cache.of(first)
  expect(cache.passing(first)).toBe(value)
  for (const stored of all) cache.of(stored)
  expect(cache.passing(first)).not.toBe(value)
})

test("stored bytes are not part of a shared buffer", () => {
  const bytes = encodeStored(object("größer 𝒳"))
  expect(bytes.buffer.byteLength).toBe(bytes.length)
  expect(JSON.parse(bytes.toString())).toMatchObject({ data: { text: "größer 𝒳" } })
})
