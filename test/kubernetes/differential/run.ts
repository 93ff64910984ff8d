// Runs a scenario against one server; the transcript contains the unmodified responses.

import type { IncomingHttpHeaders } from "node:http"
import { type GroupVersionKind, type Json, printGroupVersion } from "../../../apimachinery/object.ts"
import { parseExactly } from "../../../apimachinery/schema/exact-integers.ts"
import { schemaOf } from "../../../apimachinery/schema/facts.ts"
import { encodeProtobuf } from "../../../apimachinery/schema/protobuf/encode.ts"
import type { Answer, Connection, Headers, OpenWatch } from "./connection.ts"
import { describeStep, type RequestStep, type Scenario, type Step, type User, type WatchStep } from "./scenario.ts"
import { eventsOf } from "./watch-events.ts"

export interface Transcript {
  namespace: string
  id: string
  entries: Entry[]
}

export interface Entry {
  step: Step
  title: string
  code: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/** A running scenario: its steps have ended, its watches may still be open. */
export interface Running {
  transcript: Transcript
  /** Number of events received by each watch so far. */
  watched(): number[]
  close(): void
}

/** The namespace and names of a scenario on both servers. */
export interface Place {
  namespace: string
  id: string
  /** Four hexadecimal digits. */
  number: string
}

/** By default, such as for serving a new kind. */
const settlingMs = 10_000
/** Maximum length of a printed response. */
const shownBytes = 500
/** Timeout for the end of a watch that the server ends, and for its last event. */
const endPatienceMs = 15_000

export interface RunOptions {
  /** Timeout for actions that a server performs by itself. */
  patienceMs?: number
  /** Called when the scenario's namespace exists. */
  before?: () => Promise<void>
  /** What the server did besides responding to a step, as entries that follow the response's. */
  after?: (entry: Entry) => Promise<Entry[]>
}

export async function runSteps(
  connection: Connection,
  scenario: Scenario,
  place: Place,
  { before, after, patienceMs = settlingMs }: RunOptions = {},
): Promise<Running> {
  const { namespace, id } = place
  const saved = new Map<string, unknown>()
  const fill = (text: string): string => fillIn(text, (expression) => valueOf(expression, place, saved))
  const entries: Entry[] = []
  const watches: { entry: Entry; watch: OpenWatch; step: WatchStep }[] = []
  if (scenario.steps.some((step) => JSON.stringify(step).includes("@{ns}"))) await makeNamespace(connection, namespace)
  await before?.()
  for (const step of scenario.steps) {
    const title = describeStep(step)
    if ("watch" in step) {
      const path = `${step.watch}${step.watch.includes("?") ? "&" : "?"}watch=true`
      const watch = await connection.watch(fill(path), headersOf(step, fill))
      const entry = { step, title, code: watch.code, headers: watch.headers, body: Buffer.alloc(0) }
      entries.push(entry)
      watches.push({ entry, watch, step })
      continue
    }
    const { code, headers, body, isInVain } = await ask(connection, step, fill, patienceMs)
    if (isInVain && scenario.byChance !== true) throw inVain(connection, step, shown(code, body))
    if (step.save !== undefined) {
      if (code >= 300 && scenario.byChance !== true)
        throw new Error(`${connection.name}: ${title}: ${shown(code, body)}`)
      saved.set(step.save, parsed(body))
    }
    const entry = { step, title, code, headers, body }
    entries.push(entry, ...((await after?.(entry)) ?? []))
  }
  for (const { watch, step, entry } of watches) {
    const { untilEnd = false, untilText } = step
    const text = untilText === undefined ? undefined : fill(untilText)
    const isDone = (): boolean =>
      (!untilEnd || watch.ended) && (text === undefined || Buffer.concat(watch.chunks).includes(text))
    if ((await until(isDone, endPatienceMs)) || scenario.byChance === true) continue
    throw new Error(`${connection.name}: waited in vain for ${text ?? "the end"} of ${entry.title}`)
  }
  return {
    transcript: { namespace, id, entries },
    watched: () =>
      watches.map(({ watch: { headers, chunks } }) => eventsOf(Buffer.concat(chunks), headers["content-type"]).length),
    close() {
      for (const { entry, watch } of watches) {
        watch.close()
        entry.body = Buffer.concat(watch.chunks)
      }
    },
  }
}

/** Returns false on timeout. */
export async function until(condition: () => boolean, patienceMs: number): Promise<boolean> {
  const deadline = Date.now() + patienceMs
  while (!condition()) {
    if (Date.now() > deadline) return false
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return true
}

/** `isInVain`: the expected response has not arrived. */
async function ask(
  connection: Connection,
  step: RequestStep,
  fill: (text: string) => string,
  patienceMs: number,
): Promise<Answer & { isInVain: boolean }> {
  const options = { headers: headersOf(step, fill), body: bodyOf(step, fill) }
  const caller = "authorization" in options.headers ? connection.anonymous : connection
  const deadline = Date.now() + patienceMs
  for (;;) {
    const answer = await caller.call(step.method, fill(step.path), options).catch(noAnswer)
    const isDone =
      (step.untilCode === undefined || answer.code === step.untilCode) &&
      (step.untilText === undefined || [step.untilText].flat().some((text) => answer.body.includes(fill(text))))
    if (isDone || Date.now() > deadline) return { ...answer, isInVain: !isDone }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function inVain(connection: Connection, step: RequestStep, answer: string): Error {
  const { method, path, untilCode, untilText = [] } = step
  const wanted = [untilCode ?? [], untilText].flat().join(" or ")
  const waited = `${connection.name}: waited in vain for ${wanted} of ${method} ${path}`
  return new Error(`${waited}; ${answer}`)
}

const shown = (code: number, body: Buffer): string => `${code}: ${body.toString().slice(0, shownBytes)}`

/** A missing response is compared, too. */
function noAnswer(error: unknown): Answer {
  return { code: 0, headers: {}, body: Buffer.from(error instanceof Error ? error.message : String(error)) }
}

/** Creates the service account, too, as a controller would do, because pods need it. */
async function makeNamespace(connection: Connection, name: string): Promise<void> {
  const headers = { "content-type": "application/json", ...impersonation() }
  const create = async (path: string, object: Json): Promise<void> => {
    const { code, body } = await connection.call("POST", path, { headers, body: JSON.stringify(object) })
    if (code !== 201) throw new Error(`${connection.name}: POST ${path} answered ${code}: ${body.toString()}`)
  }
  await create("/api/v1/namespaces", { metadata: { name } })
  await create(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: "default" } })
}

function headersOf(step: Step, fill: (text: string) => string): Headers {
  const headers: Record<string, string> = {}
  if (!("watch" in step) && step.body !== undefined) headers["content-type"] = step.contentType ?? "application/json"
  for (const [name, value] of Object.entries(step.headers ?? {})) headers[name.toLowerCase()] = fill(value)
  const isOwn = step.as === undefined && ("impersonate-user" in headers || "authorization" in headers)
  return isOwn ? headers : { ...headers, ...impersonation(step.as, fill) }
}

/** Both servers know the client by the same name, regardless of how it authenticates. */
const everyone: User = { name: "differential", groups: ["system:masters", "system:authenticated"] }

function impersonation({ name, groups }: User = everyone, fill = (text: string): string => text): Headers {
  return { "impersonate-user": fill(name), ...(groups === undefined ? {} : { "impersonate-group": groups.map(fill) }) }
}

function bodyOf(step: RequestStep, fill: (text: string) => string): string | Uint8Array | undefined {
  if (step.body === undefined) return undefined
  // Bytes contain their own lengths.
  if (step.encoding === "latin1" && typeof step.body === "string") return Buffer.from(step.body, "latin1")
  const text = fill(typeof step.body === "string" ? step.body : JSON.stringify(step.body))
  if (step.protobuf !== undefined) return inProtobuf(parseExactly(text), step.protobuf)
  if (step.encoding === undefined) return text
  const units = Buffer.from(text, "utf16le")
  return step.encoding === "utf16be" ? units.swap16() : units
}

function inProtobuf(object: Json, gvk: GroupVersionKind): Uint8Array {
  const schema = schemaOf(gvk)
  if (schema === undefined) throw new Error(`the facts have no ${gvk.kind}`)
  return encodeProtobuf(schema, { apiVersion: printGroupVersion(gvk), kind: gvk.kind, ...(object as object) })
}

function fillIn(text: string, value: (expression: string) => string): string {
  return text.replaceAll(/@\{([^}]+)\}/g, (_, expression: string) => value(expression))
}

function valueOf(expression: string, { namespace, id, number }: Place, saved: ReadonlyMap<string, unknown>): string {
  if (expression === "ns") return namespace
  if (expression === "id") return id
  if (expression === "number") return number
  const [name = "", ...path] = expression.split(".")
  let value = saved.get(name)
  for (const part of path) {
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[part] : undefined
  }
  return typeof value === "string" || typeof value === "number" ? String(value) : ""
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined // not JSON: nothing in it can be referenced
  }
}
