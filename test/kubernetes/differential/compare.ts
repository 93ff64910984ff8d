// Compares two transcripts of one scenario.

import type { NormalEntry } from "./normalize.ts"
import type { Scenario } from "./scenario.ts"

export interface Difference {
  scenario: string
  /** The step's title. */
  request: string
  /** Such as "answer" (code and message), "message", "headers.warning", "body.spec.replicas". */
  at: string
  /** Undefined if it is absent. */
  kubernetes: unknown
  polyplane: unknown
}

export function compareTranscripts(
  { name, anyOrder = false }: Pick<Scenario, "name" | "anyOrder">,
  kubernetes: readonly NormalEntry[],
  polyplane: readonly NormalEntry[],
): Difference[] {
  return kubernetes.flatMap((expected, index) => {
    const actual = polyplane[index]
    if (actual === undefined) throw new Error(`${name}: transcripts of different length`)
    const found: Difference[] = []
    const add = (at: string, a: unknown, b: unknown): void => {
      found.push({ scenario: name, request: expected.title, at, kubernetes: a, polyplane: b })
    }
    if (expected.code !== actual.code) add("answer", summary(expected), summary(actual))
    else {
      const [theirs, ours] = [expected.body, actual.body].map((body) => (anyOrder ? inOrder(body) : body))
      const [said, saying] = [expected.headers, actual.headers].map((each) => (anyOrder ? warningsInOrder(each) : each))
      diff(said, saying, "headers", add)
      diffBodies(theirs, ours, add)
    }
    return found
  })
}

/** The beginning of one of several faults: the name of its field; or the bound of a limit range that is not kept. */
const faultStart =
  /(?:, |: \[)(?=[.a-zA-Z<](?:[^ ,:[]|\[[^\]]*\])*: (?:Invalid value|Required value|Duplicate value|Unsupported value|Forbidden|Too long|Too many|Not found|Internal error|must )|(?:(?:min|max)imum \S+ usage|\S+ max limit to request ratio) per )/

/** The beginning of a message with several faults, followed by each fault. */
export function faultsOf(message: string): string[] {
  return message.replace(/\]$/, "").split(faultStart)
}

const faultWarning = /^299 - "[^ :]+: (?:Invalid value|Required value|Duplicate value|Forbidden)/

/** Faults of unchanged fields are warnings. Others keep their places. */
function warningsInOrder(headers: unknown): unknown {
  if (!isObject(headers) || typeof headers["warning"] !== "string") return headers
  const warnings = headers["warning"].split(/, (?=299 - ")/)
  const faults = warnings.filter((one) => faultWarning.test(one)).toSorted()
  return { ...headers, warning: warnings.map((one) => (faultWarning.test(one) ? faults.shift() : one)).join(", ") }
}

function inOrder(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(inOrder)
  if (!isObject(body)) return body
  // The order of resources in a version is that of a Go map.
  if (body["kind"] === "APIResourceList" && Array.isArray(body["resources"]))
    return { ...body, resources: body["resources"].toSorted(byName) }
  if (body["kind"] === "Status" && typeof body["message"] === "string") return withFaultsInOrder(body, body["message"])
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, inOrder(value)]))
}

function byName(a: unknown, b: unknown): number {
  return byText(isObject(a) ? a["name"] : a, isObject(b) ? b["name"] : b)
}

function byText(a: unknown, b: unknown): number {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)]
  return one === other ? 0 : one < other ? -1 : 1
}

function withFaultsInOrder(body: Record<string, unknown>, text: string): unknown {
  // For an apply, each fault is on a separate line.
  const [before = "", ...lines] = text.split("\n  ")
  if (lines.length > 0) return { ...body, message: [before, ...lines.toSorted()].join("\n  ") }
  const [start = "", ...faults] = faultsOf(text)
  const { details } = body
  const causes = isObject(details) && Array.isArray(details["causes"]) ? (details["causes"] as unknown[]) : []
  const sorted = causes.toSorted(byText)
  return {
    ...body,
    message: [start, ...faults.toSorted()].join(", "),
    ...(isObject(details) ? { details: { ...details, causes: sorted } } : {}),
  }
}

type Add = (at: string, a: unknown, b: unknown) => void

/** If the codes differ, only a summary is compared, since all other differences follow from that. */
function summary({ code, body }: NormalEntry): string {
  if (!isObject(body)) return `${code}: ${print(body)}`
  const text = body["kind"] === "Status" && typeof body["message"] === "string" ? body["message"] : String(body["kind"])
  return `${code}: ${text}`
}

/** For failures, the details are compared only if the message is the same, since it contains them. */
function diffBodies(a: unknown, b: unknown, add: Add): void {
  if (isObject(a) && isObject(b) && a["kind"] === "Status" && a["message"] !== b["message"]) {
    add("message", a["message"], b["message"])
  } else diff(a, b, "body", add)
}

function diff(a: unknown, b: unknown, at: string, add: Add): void {
  if (Object.is(a, b)) return
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length) {
      add(at, a, b)
      return
    }
    for (const [index, item] of a.entries()) diff(item, b[index], `${at}[${index}]`, add)
    return
  }
  if (isObject(a) && isObject(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      diff(a[key], b[key], `${at}.${key}`, add)
    }
    return
  }
  add(at, a, b)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** For people: `-` is kube-apiserver's response, `+` the tenant's. */
export function printDifferences(differences: readonly Difference[]): string {
  const lines: string[] = []
  let request: string | undefined
  for (const difference of differences) {
    if (difference.request !== request) lines.push(`  ${(request = difference.request)}`)
    for (const { at, kubernetes, polyplane } of partsOf(difference)) {
      lines.push(`    ${at}`, `      - ${kubernetes}`, `      + ${polyplane}`)
    }
  }
  return lines.join("\n")
}

interface PrintedPart {
  at: string
  kubernetes: string
  polyplane: string
}

/** What differs in values that are too long to be printed: single entries of lists, texts from where they differ. */
function partsOf({ at, kubernetes, polyplane }: Pick<Difference, "at" | "kubernetes" | "polyplane">): PrintedPart[] {
  const [theirs, ours] = [printWhole(kubernetes), printWhole(polyplane)]
  if (theirs.length <= longest && ours.length <= longest) return [{ at, kubernetes: theirs, polyplane: ours }]
  if (Array.isArray(kubernetes) && Array.isArray(polyplane)) return partsOfLists(kubernetes, polyplane, at)
  const start = Math.max(0, commonLength(theirs, ours) - context)
  return [{ at, kubernetes: printFrom(theirs, start), polyplane: printFrom(ours, start) }]
}

/** Without the entries that both begin with, and those that both end with. */
function partsOfLists(kubernetes: readonly unknown[], polyplane: readonly unknown[], at: string): PrintedPart[] {
  const [theirs, ours] = [kubernetes, polyplane].map((list) => list.map(printWhole)) as [string[], string[]]
  const start = commonLength(theirs, ours)
  const end = commonLength(theirs.slice(start).toReversed(), ours.slice(start).toReversed())
  const parts: PrintedPart[] = []
  const add = (where: string, a: unknown, b: unknown): void => {
    parts.push(...partsOf({ at: where, kubernetes: a, polyplane: b }))
  }
  for (let index = start; index < Math.max(theirs.length, ours.length) - end; index++) {
    const [a, b] = [kubernetes, polyplane].map((list) => (index < list.length - end ? list[index] : undefined))
    diff(a, b, `${at}[${index}]`, add)
  }
  return parts
}

function commonLength(a: ArrayLike<unknown>, b: ArrayLike<unknown>): number {
  let length = 0
  while (length < a.length && length < b.length && a[length] === b[length]) length++
  return length
}

/** Characters before the first one that differs. */
const context = 80
const longest = 1200

export function print(value: unknown): string {
  return printFrom(printWhole(value), 0)
}

function printFrom(text: string, start: number): string {
  const end = text.length > start + longest ? "…" : ""
  return `${start > 0 ? "…" : ""}${text.slice(start, start + longest)}${end}`
}

export function printWhole(value: unknown): string {
  return value === undefined ? "(absent)" : JSON.stringify(value)
}
