import { describe, expect, test } from "vitest"
import { RequestCounts, type RequestLabels, seriesKey } from "./request-counts.ts"

const pods: RequestLabels = {
  component: "apiserver",
  dryRun: "",
  verb: "LIST",
  group: "",
  version: "v1",
  resource: "pods",
  subresource: "",
  scope: "namespace",
}
const printed =
  'component="apiserver",group="",resource="pods",scope="namespace",subresource="",verb="LIST",version="v1"'

function counted(labels: RequestLabels, bytes = 0, kind: "readOnly" | "longRunning" = "readOnly") {
  return {
    kind,
    labels,
    key: seriesKey(labels),
    code: 200,
    seconds: 0.01,
    waitedSeconds: 0,
    isTerminated: false,
    bytes,
  }
}

describe("requests are counted as by kube-apiserver:", () => {
  test("by resource and dry run", () => {
    const counts = new RequestCounts()
    for (const labels of [pods, pods, { ...pods, verb: "POST", dryRun: "All" }]) {
      counts.begin("readOnly")
      counts.end(counted(labels))
    }
    const text = counts.print()
    expect(text).toContain('{code="200",component="apiserver",dry_run="",group="",resource="pods",scope="namespace"')
    expect(text).toMatch(/apiserver_request_total\{.*dry_run="",.*verb="LIST".*\} 2\n/)
    expect(text).toMatch(/apiserver_request_total\{.*dry_run="All",.*verb="POST".*\} 1\n/)
    expect(text).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 0')
  })

  test("with the size of reads", () => {
    const counts = new RequestCounts()
    counts.begin("readOnly")
    counts.end(counted(pods, 5000))
    counts.begin("readOnly")
    counts.end(counted({ ...pods, verb: "POST" }, 5000))
    const sizes = counts.print().match(/^apiserver_response_sizes.*$/gm) ?? []
    expect(sizes).toContain(`apiserver_response_sizes_bucket{${printed},le="1000"} 0`)
    expect(sizes).toContain(`apiserver_response_sizes_bucket{${printed},le="10000"} 1`)
    expect(sizes).toContain(`apiserver_response_sizes_sum{${printed}} 5000`)
    expect(sizes.some((line) => line.includes("POST"))).toBe(false)
  })

  test("long-running ones while they last", () => {
    const counts = new RequestCounts()
    const labels = { ...pods, verb: "WATCH" }
    const line = `apiserver_longrunning_requests{${printed.replace("LIST", "WATCH")}}`
    counts.begin("longRunning")
    const leave = counts.enter(labels, seriesKey(labels))
    expect(counts.print()).toContain(`${line} 1`)
    leave()
    counts.end(counted(labels, 0, "longRunning"))
    expect(counts.print()).toContain(`${line} 0`)
  })

  test("once per deprecated kind", () => {
    const counts = new RequestCounts()
    for (let time = 0; time < 2; time++) counts.askedForDeprecated({ ...pods, resource: "endpoints" })
    expect(counts.print().match(/^apiserver_requested_deprecated_apis\{.*$/gm)).toEqual([
      'apiserver_requested_deprecated_apis{group="",removed_release="",resource="endpoints",subresource="",version="v1"} 1',
    ])
  })

  test("with terminations by the server", () => {
    const counts = new RequestCounts()
    counts.begin("readOnly")
    counts.end({ ...counted(pods), code: 504, isTerminated: true })
    expect(counts.print()).toContain(`apiserver_request_terminations_total{code="504",${printed}} 1`)
  })

  test("with their duration except waiting for others, unless they are dry runs", () => {
    const counts = new RequestCounts()
    const own = `apiserver_request_sli_duration_seconds_sum{${printed}}`
    for (const [seconds, waitedSeconds] of [
      [0.01, 0],
      [3, 2],
    ] as const) {
      counts.begin("readOnly")
      counts.end({ ...counted(pods), seconds, waitedSeconds })
    }
    const tried = { ...pods, dryRun: "All" }
    counts.begin("readOnly")
    counts.end(counted(tried))
    expect(
      counts
        .print()
        .split("\n")
        .filter((line) => line.startsWith(own)),
    ).toEqual([`${own} 1.01`])
    expect(counts.print()).toContain(`${own.replace("_sum", "_bucket").replace("}", ',le="0.05"}')} 1`)
    expect(counts.print()).toContain(`${own.replace("_sum", "_bucket").replace("}", ',le="1"}')} 2`)
  })
})
