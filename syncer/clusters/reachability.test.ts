import { expect, test } from "vitest"
import { forbidden, notFound, serviceUnavailable } from "../../apimachinery/status.ts"
import { silentLog, type LogFields } from "../../client/log.ts"
import { nodes, pods } from "../../client/resources.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { ObservedClient, Reachability } from "./reachability.ts"

function logged() {
  const lines: string[] = []
  const note = (_: object, message: string): void => void lines.push(message)
  return { lines, reachability: new Reachability({ ...silentLog, info: note, warn: note }) }
}

const down = new Error("connect ECONNREFUSED")
const lost = "the super cluster is unavailable; retrying"
const found = "the super cluster is available again"

test.each<[name: string, failures: unknown[], lines: string[]]>([
  ["an outage is logged once", [down, down], [lost]],
  [
    "its end is logged once, also after a refusal",
    [down, notFound({ group: "", resource: "pods" }, "a")],
    [lost, found],
  ],
  ["a 503 response counts as an outage", [serviceUnavailable("no")], [lost]],
  ["an aborted call is ignored", [AbortSignal.abort().reason], []],
  ["a timeout counts as an outage", [new DOMException("late", "TimeoutError")], [lost]],
])("%s", (_, failures, lines) => {
  const { reachability, lines: messages } = logged()
  for (const failure of failures) reachability.failed(failure)
  expect(messages).toEqual(lines)
})

test("a forbidden list is logged once, and once when it is allowed again", async () => {
  const cluster = new FakeCluster()
  const messages: string[] = []
  const note = ({ resource }: LogFields, message: string): void => void messages.push(`${String(resource)}: ${message}`)
  const client = new ObservedClient(cluster, new Reachability({ ...silentLog, info: note, warn: note }))
  cluster.fail = (_, resource) => (resource === "nodes" ? forbidden(nodes, "", "no rights") : undefined)
  for (let time = 0; time < 2; time++) await expect(client.list(nodes)).rejects.toThrow("forbidden")
  await client.list(pods)
  cluster.fail = undefined
  await client.list(nodes)
  expect(messages).toEqual([
    "nodes: this resource cannot be listed in the super cluster and is not synced; check the permissions of the syncer",
    "nodes: this resource can be listed in the super cluster now",
  ])
})
