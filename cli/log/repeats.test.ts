import { expect, test } from "vitest"
import { silentLog } from "../../client/log.ts"
import { withoutRepeats } from "./repeats.ts"

function logging() {
  let nowMs = 0
  const lines: unknown[][] = []
  const write = (...line: unknown[]) => void lines.push(line)
  const log = withoutRepeats({ ...silentLog, info: write, warn: write, error: write }, () => nowMs)
  const advance = (ms: number) => void (nowMs += ms)
  return { log, lines, advance }
}

test("of equal warnings one in ten seconds is logged, with the number of those left out", () => {
  const { log, lines, advance } = logging()
  for (let failures = 1; failures <= 100; failures++) log.warn({ tenant: "a", failures }, "watch failed")
  expect(lines).toEqual([[{ tenant: "a", failures: 1 }, "watch failed"]])
  advance(10_000)
  log.warn({ tenant: "a", failures: 101 }, "watch failed")
  expect(lines[1]).toEqual([{ tenant: "a", failures: 101, repeats: 99 }, "watch failed"])
  advance(10_000)
  log.warn({ tenant: "a", failures: 102 }, "watch failed")
  expect(lines[2]).toEqual([{ tenant: "a", failures: 102 }, "watch failed"])
})

test("lines about something else, or of another level, are logged", () => {
  const { log, lines } = logging()
  log.warn({ tenant: "a" }, "watch failed")
  log.warn({ tenant: "b" }, "watch failed")
  log.error({ tenant: "a" }, "watch failed")
  log.error({ err: new Error("one") }, "request failed")
  log.error({ err: new Error("two") }, "request failed")
  log.warn({ key: { namespace: "a" } }, "reconcile failed")
  log.warn({ key: { namespace: "b" } }, "reconcile failed")
  for (const _ of [1, 2]) log.info({}, "tenant created")
  expect(lines).toHaveLength(9)
})

test("a limited number of texts is remembered", () => {
  const { log, lines } = logging()
  for (let tenant = 0; tenant <= 1000; tenant++) log.warn({ tenant: `${tenant}` }, "watch failed")
  log.warn({ tenant: "1000" }, "watch failed")
  expect(lines).toHaveLength(1001)
  log.warn({ tenant: "0" }, "watch failed")
  expect(lines).toHaveLength(1002)
})
