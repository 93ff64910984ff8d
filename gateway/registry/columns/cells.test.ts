// cells.jsonl contains objects as stored by a kube-apiserver v1.36, the cells of its Table, and the time of the request.

import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { columnsOf } from "../columns.ts"
import { humanDuration } from "./age.ts"
import { printLabelSelector } from "./layout.ts"
import { shownCell } from "./table-column.ts"

interface Case {
  /** "group/resource" */
  resource: string
  object: KubeObject
  cells: (string | number | boolean | null)[]
  now: string
}

const cases = readFileSync(new URL("./cells.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Case)

test.for(cases.map((one) => [`${one.resource} ${one.object.metadata.name}`, one] as const))(
  "%s has kube-apiserver's cells",
  ([, { resource, object, cells, now }]) => {
    const slash = resource.indexOf("/")
    const columns = columnsOf(resource.slice(0, slash), resource.slice(slash + 1))
    expect(columns.map((column) => shownCell(column.cell(object), Date.parse(now)))).toEqual(cells)
  },
)

test("the status of a pod that has ended is a condition of its row", () => {
  const conditionOf = (phase: string): unknown => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: {}, status: { phase } }
    return columnsOf("", "pods").flatMap(({ condition }) => condition?.(pod) ?? [])
  }
  const end = { type: "Completed", status: "True" }
  expect(conditionOf("Succeeded")).toMatchObject([{ ...end, message: "The pod has completed successfully." }])
  expect(conditionOf("Failed")).toMatchObject([{ ...end, reason: "Failed", message: "The pod failed." }])
  expect(conditionOf("Running")).toEqual([])
})

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const year = 365 * day

test.for([
  [-2 * second, "<invalid>"],
  [-second, "0s"],
  [-1, "0s"],
  [0, "0s"],
  [999, "0s"],
  [119 * second, "119s"],
  [120 * second, "2m"],
  [125 * second, "2m5s"],
  [10 * minute - 1, "9m59s"],
  [10 * minute + second, "10m"],
  [179 * minute, "179m"],
  [180 * minute, "3h"],
  [7 * hour + 59 * minute, "7h59m"],
  [8 * hour + minute, "8h"],
  [47 * hour, "47h"],
  [48 * hour, "2d"],
  [49 * hour, "2d1h"],
  [8 * day + hour, "8d"],
  [2 * year - hour, "729d"],
  [2 * year, "2y"],
  [2 * year + day, "2y1d"],
  [8 * year + day, "8y"],
  [400 * year, "292y"],
] as const)("%d ms are %s", ([milliseconds, printed]) => {
  expect(humanDuration(milliseconds)).toBe(printed)
})

test("an invalid selector is shown in its cell", () => {
  expect(printLabelSelector({ matchExpressions: [{ key: "a", operator: "Like", values: [] }] })).toBe("<error>")
  expect(printLabelSelector(undefined)).toBe("<none>")
  expect(printLabelSelector(null)).toBe("<none>")
  expect(printLabelSelector({})).toBe("<none>")
})
