import { expect, test } from "vitest"
import { notFound, serviceUnavailable } from "../../apimachinery/status.ts"
import { silentLog } from "../../client/log.ts"
import { Reachability } from "./reachability.ts"

function logged() {
  const lines: string[] = []
  const note = (_: object, message: string): void => void lines.push(message)
  return { lines, reachability: new Reachability({ ...silentLog, info: note, warn: note }) }
}

const down = new Error("connect ECONNREFUSED")
const lost = "the super cluster does not answer; trying again"
const found = "the super cluster answers again"

test.each<[name: string, failures: unknown[], lines: string[]]>([
  ["an outage is told once", [down, down], [lost]],
  [
    "that it has ended, too, by an answer that refuses",
    [down, notFound({ group: "", resource: "pods" }, "a")],
    [lost, found],
  ],
  ["answers that tell of an outage are none", [serviceUnavailable("no")], [lost]],
  ["a call that was given up tells nothing", [AbortSignal.abort().reason], []],
  ["one that took too long does", [new DOMException("late", "TimeoutError")], [lost]],
])("%s", (_, failures, lines) => {
  const { reachability, lines: told } = logged()
  for (const failure of failures) reachability.failed(failure)
  expect(told).toEqual(lines)
})
