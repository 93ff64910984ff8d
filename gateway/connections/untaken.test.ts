import type { ServerResponse } from "node:http"
import { expect, test } from "vitest"
import { Arrivals } from "../request/arrivals.ts"
import { Sweeper } from "./untaken.ts"

type Answered = ConstructorParameters<typeof Sweeper>[0]["values"][number]

const ofShort = { isLongRunning: false, isAborted: false, summary: {} } as Omit<Answered, "response">

test("an answer that had ended a sweep ago is destroyed, and those in progress are not", () => {
  const destroyed: string[] = []
  const active = new Arrivals<Answered>()
  const answering = (name: string, progress: { writableEnded?: boolean; isEnding?: boolean }) => {
    const response = { writableEnded: false, ...progress, destroy: () => void destroyed.push(name) }
    const remove = active.add({ ...ofShort, response: response as unknown as ServerResponse })
    return { response, remove }
  }
  const later = answering("later", {})
  const taken = answering("taken", { writableEnded: true })
  answering("untaken", { writableEnded: true })
  answering("held back", { isEnding: true })
  const sweeper = new Sweeper(active)
  sweeper.sweep()
  expect(destroyed).toEqual([])
  taken.remove()
  later.response.writableEnded = true
  sweeper.sweep()
  expect(destroyed).toEqual(["untaken", "held back"])
  sweeper.sweep()
  expect(destroyed).toEqual(["untaken", "held back", "later"])
})

test.each([
  ["a log", { isLongRunning: true, verb: "get", statusCode: 200 }, true],
  ["a log of a tenant that is gone", { isLongRunning: true, isAborted: true, verb: "get", statusCode: 200 }, false],
  [
    "a log of another process",
    { isLongRunning: true, tenantElsewhere: { exists: true }, verb: "get", statusCode: 200 },
    true,
  ],
  [
    "a log of another process, whose tenant is gone",
    { isLongRunning: true, tenantElsewhere: { exists: false }, verb: "get", statusCode: 200 },
    false,
  ],
  ["a refused log", { isLongRunning: true, verb: "get", statusCode: 401 }, false],
  ["a watch", { isLongRunning: true, verb: "watch", statusCode: 200 }, false],
  ["a list", { isLongRunning: false, verb: "list", statusCode: 200 }, false],
])(
  "a client that takes the end of %s late gets it if clients of such answers may take their time",
  (_what, of, gets) => {
    let isDestroyed = false
    const response = { writableEnded: true, statusCode: of.statusCode, destroy: () => (isDestroyed = true) }
    const active = new Arrivals<Answered>()
    const controlPlane = "tenantElsewhere" in of ? undefined : {}
    const summary = { info: { verb: of.verb }, controlPlane }
    const state = { ...of, response, summary, abort: () => Object.assign(state, { isAborted: true }) }
    active.add(state as unknown as Answered)
    const sweeper = new Sweeper(active)
    for (let sweeps = 0; sweeps < 10; sweeps++) sweeper.sweep()
    expect(isDestroyed).toBe(!gets)
  },
)

test("streams of a tenant of another process are ended when it is gone", () => {
  const tenant = { exists: true }
  const aborted: string[] = []
  const active = new Arrivals<Answered>()
  const stream = (name: string, tenantElsewhere: typeof tenant | undefined): void => {
    const state = {
      response: { writableEnded: false },
      isAborted: false,
      tenantElsewhere,
      abort: () => aborted.push(name),
    }
    active.add(state as unknown as Answered)
  }
  stream("of that tenant", tenant)
  stream("of another one", { exists: true })
  stream("of one of this process", undefined)
  const sweeper = new Sweeper(active)
  sweeper.sweep()
  expect(aborted).toEqual([])
  tenant.exists = false
  sweeper.sweep()
  expect(aborted).toEqual(["of that tenant"])
})
