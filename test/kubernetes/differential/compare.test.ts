import { expect, test } from "vitest"
import { compareTranscripts, printDifferences } from "./compare.ts"
import { eventsOf } from "./watch-events.ts"

const long = "x".repeat(2_000)
const printed = (theirs: unknown, ours: unknown): string => {
  const [kubernetes, polyplane] = [theirs, ours].map((body) => [{ title: "WATCH", code: 200, headers: {}, body }])
  return printDifferences(compareTranscripts({ name: "" }, kubernetes ?? [], polyplane ?? []))
}

test("of lists of different length the entries are printed that differ", () => {
  const [first, second, third] = [1, 2, 3].map((number) => ({ number, long }))
  const marked = { type: "BOOKMARK" }
  expect(printed([first, second, third], [first, second, marked, third])).toBe(
    ["  WATCH", "    body[2]", "      - (absent)", '      + {"type":"BOOKMARK"}'].join("\n"),
  )
  expect(printed([first, second], [{ ...first, number: 4 }])).toContain(
    ["  WATCH", "    body[0].number", "      - 1", "      + 4", "    body[1]", '      - {"number":2'].join("\n"),
  )
})

test("of long texts the part is printed in which they differ", () => {
  const lines = printed(`${long}theirs${long}`, `${long}ours${long}`).split("\n")
  expect(lines[2]).toMatch(/^ {6}- …x{80}theirsx+…$/)
  expect(lines[3]).toMatch(/^ {6}\+ …x{80}oursx+…$/)
})

test("faults are compared in any order only where upstream's is that of a map", () => {
  const bounds = [
    "maximum cpu usage per Container is 1, but limit is 2",
    "minimum memory usage per Container is 1Mi.  No request is specified",
    "cpu max limit to request ratio per Pod is 2, but provided ratio is 3.000000",
  ]
  const differs = (anyOrder: boolean, ...messages: [string, string]): boolean => {
    const [theirs, ours] = messages.map((message) => [
      { title: "POST", code: 403, headers: {}, body: { kind: "Status", message } },
    ])
    return compareTranscripts({ name: "", anyOrder }, theirs ?? [], ours ?? []).length > 0
  }
  const refused = (...some: string[]): string => `pods "p" is forbidden: [${some.join(", ")}]`
  const both: [string, string] = [refused(...bounds), refused(...bounds.toReversed())]
  expect(differs(true, ...both)).toBe(false)
  expect(differs(false, ...both)).toBe(true)
  expect(differs(true, refused(...bounds), refused(...bounds.slice(1)))).toBe(true)
  expect(differs(true, refused(...bounds), refused(...bounds).replace("limit is 2", "limit is 3"))).toBe(true)
})

test("bookmarks that come from time to time are no events", () => {
  const object = (annotations: object) => ({ kind: "DaemonSet", metadata: { annotations } })
  const generation = { "deprecated.daemonset.template.generation": "0" }
  const events = [
    { type: "BOOKMARK", object: object({ ...generation, "k8s.io/initial-events-end": "true" }) },
    { type: "ADDED", object: object(generation) },
    { type: "BOOKMARK", object: object(generation) },
    { type: "BOOKMARK", object: { kind: "ConfigMap" } },
  ].map((event) => JSON.stringify(event))
  const lines = Buffer.from(`${events.join("\n")}\n`)
  expect(eventsOf(lines).map(String)).toEqual(events.slice(0, 2))
  const frames = ["\n\u0008BOOKMARKk8s.io/initial-events-end", "\n\u0005ADDED", "\n\u0008BOOKMARKother"]
  const framed = frames.flatMap((text) => [Buffer.from([0, 0, 0, text.length]), Buffer.from(text)])
  expect(eventsOf(Buffer.concat(framed), "application/vnd.kubernetes.protobuf;stream=watch").map(String)).toEqual(
    frames.slice(0, 2),
  )
})

test("warnings are compared in any order only where upstream's is that of a map", () => {
  const differs = (anyOrder: boolean, ...warnings: [string[], string[]]): boolean => {
    const [theirs, ours] = warnings.map((some) => [
      { title: "PUT", code: 200, headers: { warning: some.map((one) => `299 - "${one}"`).join(", ") }, body: {} },
    ])
    return compareTranscripts({ name: "", anyOrder }, theirs ?? [], ours ?? []).length > 0
  }
  const faults = ["spec.b: Invalid value: no, never", 'spec.a[0]: Duplicate value: \\"a\\"']
  expect(differs(true, ["old", ...faults], ["old", ...faults.toReversed()])).toBe(false)
  expect(differs(false, faults, faults.toReversed())).toBe(true)
  expect(differs(true, faults, ["spec.b: Invalid value: no", ...faults.slice(1)])).toBe(true)
  expect(differs(true, ["one", "two"], ["two", "one"])).toBe(true)
})
