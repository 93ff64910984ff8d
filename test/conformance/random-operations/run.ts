// Random operations of several clients on the ConfigMaps of one tenant, at the same time, while it falls asleep and wakes. What clients
// were answered is checked afterwards, when the history is known.

import { expect } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../apimachinery/testing/random.ts"
import type { Answer, Stream, TenantConnection, WatchedEvent } from "./connection.ts"
import { type History, isLeaving, type Matches, revisionOf } from "./history.ts"

const path = "/api/v1/namespaces/default/configmaps"
const names = ["a", "b", "c", "d", "e", "f"]
const colors = ["red", "blue"]
const finalizers = ["example.com/one", "example.com/two"]
const mergePatch = "application/merge-patch+json"

const selectors: readonly { query: string; matches: Matches }[] = [
  { query: "", matches: () => true },
  { query: "&labelSelector=color%3Dred", matches: ({ metadata }) => metadata.labels?.["color"] === "red" },
  { query: "&labelSelector=color!%3Dred", matches: ({ metadata }) => metadata.labels?.["color"] !== "red" },
  { query: "&fieldSelector=metadata.name%3Da", matches: ({ metadata }) => metadata.name === "a" },
  { query: "&fieldSelector=metadata.name!%3Da", matches: ({ metadata }) => metadata.name !== "a" },
]

type Check = (history: History, head: number) => void

export class RandomRun {
  readonly #random: Random
  readonly #client: TenantConnection
  readonly #sleep: () => Promise<void>
  readonly #checks: Check[] = []
  readonly #watches: Watched[] = []
  /** Every request that begins later must see it. */
  #acknowledged = 0

  constructor(seed: number, client: TenantConnection, sleep: () => Promise<void>) {
    this.#random = createRandom(seed)
    this.#client = client
    this.#sleep = sleep
  }

  /** Returns the revision at the end. */
  async steps(count: number): Promise<number> {
    for (let step = 0; step < count; step++) {
      if (chance(this.#random, 0.2)) await this.#sleep()
      const several = Array.from({ length: 1 + this.#random(4) }, () => pick(this.#random, operations))
      await Promise.all(several.map((operation) => this[operation]()))
    }
    const { body } = await this.#client.call("POST", path, { metadata: { name: "last", labels: { color: "red" } } })
    return revisionOf(body)
  }

  check(history: History, head: number): void {
    for (const check of this.#checks) check(history, head)
    for (const watch of this.#watches) checkWatch(history, head, watch)
  }

  /** Whether all watches have what they must have, so that they can be checked. */
  haveCome(history: History): boolean {
    return this.#watches.every((watch) => hasCome(history, watch))
  }

  #saw(revision: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, revision)
  }

  #expectCode({ code, body }: Answer, ...codes: number[]): boolean {
    expect(codes, `${code}: ${JSON.stringify(body)}`).toContain(code)
    return code < 300
  }

  #labels(): object {
    return { color: pick(this.#random, colors) }
  }

  #held(): string[] {
    return finalizers.filter(() => chance(this.#random, 0.3))
  }

  async create(): Promise<void> {
    const metadata = { name: pick(this.#random, names), labels: this.#labels(), finalizers: this.#held() }
    const answer = await this.#client.call("POST", path, { metadata, data: { n: String(this.#random(1000)) } })
    if (this.#expectCode(answer, 201, 409)) this.#wrote(answer.body)
  }

  async patch(): Promise<void> {
    const metadata = chance(this.#random, 0.5) ? { labels: this.#labels() } : { finalizers: this.#held() }
    const body = chance(this.#random, 0.3) ? { data: { n: String(this.#random(3)) } } : { metadata }
    const answer = await this.#client.call("PATCH", `${path}/${pick(this.#random, names)}`, body, mergePatch)
    // A leaving object gets no new finalizers.
    if (this.#expectCode(answer, 200, 404, 422)) this.#wrote(answer.body)
  }

  async readAndUpdate(): Promise<void> {
    const at = `${path}/${pick(this.#random, names)}`
    const read = await this.#client.call("GET", at)
    if (!this.#expectCode(read, 200, 404)) return
    const object = { ...read.body, data: { n: String(this.#random(1000)) } }
    const answer = await this.#client.call("PUT", at, object)
    if (!this.#expectCode(answer, 200, 404, 409)) return
    this.#wrote(answer.body)
    this.#checks.push((history) => {
      const changes = history.eventsOf(read.body.metadata.uid, revisionOf(read.body))
      expect(revisionOf(answer.body), "nothing was overwritten").toBeOneOf([
        revisionOf(read.body),
        changes[0] && revisionOf(changes[0].object),
      ])
    })
  }

  #wrote(object: KubeObject): void {
    const revision = revisionOf(object)
    this.#saw(revision)
    const { uid, name = "" } = object.metadata
    this.#checks.push((history) => {
      if (isLeaving(object) && object.metadata.finalizers === undefined)
        expect(history.eventsOf(uid, 0).at(-1)?.type).toBe("DELETED")
      else expect(history.at(revision).get(name)).toEqual(object)
    })
  }

  async remove(): Promise<void> {
    const [name, after] = [pick(this.#random, names), this.#acknowledged]
    const isCareful = chance(this.#random, 0.4)
    const read = isCareful ? await this.#client.call("GET", `${path}/${name}`) : undefined
    if (read !== undefined && read.code !== 200) return
    const uid = read?.body.metadata.uid
    const options = uid === undefined ? {} : { preconditions: { uid } }
    const answer = await this.#client.call("DELETE", `${path}/${name}`, options)
    if (!this.#expectCode(answer, 200, 404, 409)) return
    const { details } = answer.body as { details?: { uid?: string } }
    const removed = details?.uid ?? answer.body.metadata.uid
    if (uid !== undefined) expect(removed).toBe(uid)
    this.#checks.push((history) => {
      const events = history.eventsOf(removed, 0)
      expect(events.some(({ type, object }) => type === "DELETED" || isLeaving(object))).toBe(true)
      // It was there when the request began, or came later.
      const last = events.at(-1)
      if (last?.type === "DELETED" && details !== undefined) expect(revisionOf(last.object)).toBeGreaterThan(after)
    })
  }

  async removeSome(): Promise<void> {
    const { query, matches } = pick(this.#random, selectors)
    const after = this.#acknowledged
    const answer = await this.#client.call("DELETE", `${path}?${query.slice(1)}`)
    this.#expectCode(answer, 200)
    this.#checks.push((history) => {
      for (const object of history.list(after, matches)) {
        const events = history.eventsOf(object.metadata.uid, after)
        const isSpared = (one: KubeObject): boolean => isLeaving(one) || !matches(one)
        const went = events.some(({ type, object: one }) => type === "DELETED" || isSpared(one))
        expect(went || isLeaving(object), `${object.metadata.name} of ${after}: ${query}`).toBe(true)
      }
    })
  }

  /** All pages have the state at the revision of the first. */
  async list(): Promise<void> {
    const { query, matches } = pick(this.#random, selectors)
    const limit = pick(this.#random, ["", "&limit=1", "&limit=2", "&limit=3"])
    const [after, asked] = [this.#acknowledged, 1 + this.#random(Math.max(1, this.#acknowledged))]
    const exact = `&resourceVersion=${asked}&resourceVersionMatch=Exact`
    const [revision, least] = pick<[string, number]>(this.#random, [
      ["", after],
      ["", after],
      [`&resourceVersion=${after || 1}`, after],
      [`&resourceVersion=${after || 1}&resourceVersionMatch=NotOlderThan`, after],
      [exact, asked],
      ["&resourceVersion=0", 0],
    ])
    const items: KubeObject[] = []
    let at = 0
    for (let next = revision; ;) {
      const answer = await this.#client.call("GET", `${path}?${query.slice(1)}${limit}${next}`)
      if (!this.#expectCode(answer, 200, 410)) return this.#expired(at || asked)
      const { continue: token = "", remainingItemCount } = answer.body.metadata
      if (at > 0) expect(revisionOf(answer.body)).toBe(at)
      at = revisionOf(answer.body)
      items.push(...(answer.body.items ?? []))
      const [have, isCounted] = [items.length, query === "" && token !== ""]
      this.#checks.push((history) => {
        if (isCounted) expect(remainingItemCount).toBe(history.list(at, matches).length - have)
      })
      if (token === "") break
      if (chance(this.#random, 0.2)) await this.#sleep()
      else if (chance(this.#random, 0.5)) await this[pick(this.#random, writes)]()
      next = `&continue=${token}`
    }
    expect(at).toBeGreaterThanOrEqual(least)
    if (revision === exact) expect(at).toBe(asked)
    this.#checks.push((history) => {
      const expected = history.list(at, matches)
      expect(items.map(withoutType), `at ${at}: ${query}${limit}${revision}`).toEqual(expected.map(withoutType))
    })
  }

  /** Only what is older than the history that is kept. */
  #expired(revision: number): void {
    this.#checks.push((_, head) => expect(revision).toBeLessThanOrEqual(head - keptRevisions))
  }

  async watch(): Promise<void> {
    const { query, matches } = pick(this.#random, selectors)
    const isInitial = chance(this.#random, 0.5)
    const after = isInitial ? this.#acknowledged : 1 + this.#random(Math.max(1, this.#acknowledged))
    const revision = isInitial
      ? `&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=${pick(this.#random, ["", String(after || 1)])}`
      : `&resourceVersion=${after}`
    const stream = await this.#client.watch(`${path}?watch=true&allowWatchBookmarks=true${query}${revision}`)
    expect(stream.code).toBe(200)
    this.#watches.push({ stream, matches, after: isInitial ? undefined : after })
  }
}

/** Less than this is not removed: the tenant's history has at least as many revisions. */
export const keptRevisions = 40

const writes = ["create", "patch", "patch", "readAndUpdate", "remove", "removeSome"] as const
const operations = [...writes, ...writes, "list", "list", "watch"] as const

/** Objects of lists have neither apiVersion nor kind. */
function withoutType(object: KubeObject): object {
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = object
  return rest
}

/** `after` is undefined if it begins with initial events. */
interface Watched {
  stream: Stream
  matches: Matches
  after: number | undefined
}

const isInitialEnd = ({ type, object }: WatchedEvent): boolean =>
  type === "BOOKMARK" && object.metadata.annotations !== undefined
const isChange = ({ type }: WatchedEvent): boolean => type !== "BOOKMARK"

function expectedOf(history: History, { stream: { events }, matches, after }: Watched): WatchedEvent[] | undefined {
  if (after !== undefined) return history.changes(after, matches)
  const end = events.find(isInitialEnd)
  if (end === undefined) return undefined
  const from = revisionOf(end.object)
  const initial = history.list(from, matches).map((object) => ({ type: "ADDED", object }))
  return [...initial, end, ...history.changes(from, matches)]
}

function hasCome(history: History, watch: Watched): boolean {
  const { events, hasEnded } = watch.stream
  const wanted = expectedOf(history, watch)?.filter(isChange).length ?? Infinity
  return hasEnded || events.filter(isChange).length >= wanted
}

function checkWatch(history: History, head: number, watch: Watched): void {
  const { events, hasEnded } = watch.stream
  if (hasEnded) {
    expect(events.map(({ type }) => type)).toEqual(["ERROR"])
    return expect(watch.after).toBeLessThanOrEqual(head - keptRevisions)
  }
  const isTold = (event: WatchedEvent): boolean => isChange(event) || isInitialEnd(event)
  expect(events.filter(isTold)).toEqual(expectedOf(history, watch))
  for (const [index, event] of events.entries()) {
    if (isTold(event)) continue
    const before = events.slice(0, index).filter(isChange)
    const later = events.slice(index).filter(isChange)
    const revision = revisionOf(event.object)
    expect(before.every(({ object }) => revisionOf(object) <= revision)).toBe(true)
    expect(later.every(({ object }) => revisionOf(object) > revision)).toBe(true)
  }
}
