import { expect, test } from "vitest"
import { forbidden, notFound, serviceUnavailable } from "../../apimachinery/status.ts"
import { silentLog, type LogFields } from "../../client/log.ts"
import { nodes, pods } from "../../client/resources.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { observe, Reachability } from "./reachability.ts"

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

test("what may not be listed is told once, and that it may be", async () => {
  const cluster = new FakeCluster()
  const told: string[] = []
  const note = ({ resource }: LogFields, message: string): void => void told.push(`${String(resource)}: ${message}`)
  const client = observe(cluster, new Reachability({ ...silentLog, info: note, warn: note }))
  cluster.fail = (_, resource) => (resource === "nodes" ? forbidden(nodes, "", "no rights") : undefined)
  for (let time = 0; time < 2; time++) await expect(client.list(nodes)).rejects.toThrow("forbidden")
  await client.list(pods)
  cluster.fail = undefined
  await client.list(nodes)
  expect(told).toEqual([
    "nodes: the super cluster does not let this be listed: nothing is synced until it does",
    "nodes: the super cluster lets this be listed now",
  ])
})
