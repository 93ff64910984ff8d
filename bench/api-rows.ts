// The rows of api.ts: what is asked of both servers, and the goals.

import type { BenchClient, Call } from "./api-client.ts"
import { argument } from "./report.ts"

/** In a round. */
export const requests = argument(1, 1500)
/** The first round, which is not counted, has this many times as many requests. */
export const warmUpFactor = 2
const watchers = 20
/** Number of objects of 1 KiB, in separate namespaces. */
export const sizes = { small: 500, large: 4000 } as const
/** Objects of the large namespace that the label selects. */
const selected = 40

const text = "x".repeat(1000)
const collection = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`

function configMap(namespace: string, name: string, index = 0): Record<string, unknown> {
  const labels = { index: String(index), part: index < selected ? "chosen" : "other" }
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace, labels }, data: { text } }
}

export const create = (namespace: string, name: string, index?: number): Call => ({
  method: "POST",
  path: collection(namespace),
  body: JSON.stringify(configMap(namespace, name, index)),
})

/** Updates an object of the small collection, a different one each time. */
const touch = (round: number, index: number): Call => ({
  method: "PATCH",
  path: `${collection("small")}/c-${(round * 37 + index * 7) % sizes.small}`,
  contentType: "application/merge-patch+json",
  body: JSON.stringify({ data: { value: `${round}-${index}` } }),
})

interface Goals {
  cpu: number
  p99: number
  /** What prevents reaching these goals. */
  obstacle: string
}

export interface Row {
  what: string
  /** Goals as shares of kube-apiserver's processor time and of its p99. */
  goal: Goals
  /** Also measured with the bare server. */
  isBare?: boolean
  /** Share of the requests per round. */
  share?: number
  prepare?: (client: BenchClient) => Promise<Disposable>
  call: (round: number, index: number) => Call
}

const write: Goals = {
  cpu: 1 / 5,
  p99: 1 / 3,
  obstacle:
    "a bare server on Node takes a fifth of kube-apiserver's time, and three fifths of its p99, for TLS, HTTP and a flushed write alone; of ours beyond it no part is more than a tenth: LevelDB's batch, managed fields, admission, validation, encoding, garbage",
}
const read: Goals = {
  cpu: 1 / 8,
  p99: 1 / 3,
  obstacle:
    "a bare server on Node takes a tenth to a seventh of kube-apiserver's time for the same answer: writev, TLS, parsing HTTP",
}
const list: Goals = { cpu: 1 / 4, p99: 1 / 3, obstacle: "compressing and writing, which are not JavaScript" }
const protobuf = "application/vnd.kubernetes.protobuf"
const own = (round: number, index: number): string => `own-${round}-${index}`
const path = (round: number, index: number): string => `${collection("work")}/${own(round, index)}`
/** More gets than creates: otherwise a round would end while earlier writes are still being compacted. */
const gets = 3
const made = (round: number, index: number): string =>
  path(round, index % (requests * (round === 0 ? warmUpFactor : 1)))
const changed = (round: number, index: number, value: string) => ({
  ...configMap("work", own(round, index), index),
  data: { text, value },
})

export const rows: readonly Row[] = [
  { what: "create", goal: write, isBare: true, call: (round, index) => create("work", own(round, index), index) },
  {
    what: "get",
    goal: read,
    isBare: true,
    share: gets,
    call: (round, index) => ({ method: "GET", path: made(round, index) }),
  },
  {
    what: "get, protobuf",
    goal: read,
    share: gets,
    call: (round, index) => ({ method: "GET", path: made(round, index), accept: protobuf }),
  },
  {
    what: "update",
    goal: write,
    call: (round, index) => ({
      method: "PUT",
      path: path(round, index),
      body: JSON.stringify(changed(round, index, "updated")),
    }),
  },
  {
    what: "merge patch",
    goal: write,
    call: (round, index) => ({
      method: "PATCH",
      path: path(round, index),
      contentType: "application/merge-patch+json",
      body: JSON.stringify({ data: { value: "patched" } }),
    }),
  },
  {
    what: "apply",
    goal: write,
    call: (round, index) => ({
      method: "PATCH",
      path: `${path(round, index)}?fieldManager=bench-apply&force=true`,
      contentType: "application/apply-patch+yaml",
      body: JSON.stringify(changed(round, index, "applied")),
    }),
  },
  { what: "delete", goal: write, call: (round, index) => ({ method: "DELETE", path: path(round, index) }) },
  {
    what: `create under ${watchers} watchers`,
    goal: write,
    prepare: watched,
    call: (round, index) => create("watched", own(round, index), index),
  },
  {
    what: `list of ${sizes.small}`,
    goal: list,
    share: 0.1,
    call: () => ({ method: "GET", path: collection("small") }),
  },
  // Cached data of a list is useless after a change: every other request writes one of the objects.
  {
    what: `list of ${sizes.small} and a write to one of it, each half`,
    goal: list,
    share: 0.2,
    call: (round, index) => (index % 2 === 0 ? touch(round, index) : { method: "GET", path: collection("small") }),
  },
  {
    what: `list of ${sizes.small}, protobuf`,
    goal: list,
    share: 0.4,
    call: () => ({ method: "GET", path: collection("small"), accept: protobuf }),
  },
  {
    what: `list of ${sizes.large}`,
    goal: list,
    share: 0.04,
    call: () => ({ method: "GET", path: collection("large") }),
  },
  {
    what: `page of ${sizes.small} of ${sizes.large}`,
    goal: list,
    share: 0.1,
    call: () => ({ method: "GET", path: `${collection("large")}?limit=${sizes.small}` }),
  },
  // As `kubectl get` asks for it.
  {
    what: `page of ${sizes.small} of ${sizes.large}, as a table`,
    goal: list,
    share: 0.1,
    call: () => ({
      method: "GET",
      path: `${collection("large")}?limit=${sizes.small}`,
      accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    }),
  },
  {
    what: `list of ${sizes.large}, metadata only`,
    goal: list,
    share: 0.04,
    call: () => ({
      method: "GET",
      path: collection("large"),
      accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    }),
  },
  {
    what: `${selected} of ${sizes.large} by label`,
    goal: list,
    share: 0.4,
    call: () => ({ method: "GET", path: `${collection("large")}?labelSelector=part=chosen` }),
  },
]

async function watched(client: BenchClient): Promise<Disposable> {
  const stack = new DisposableStack()
  // Watches start at the current version: existing objects are not part of the cost of a create.
  const resourceVersion = await client.resourceVersion(`${collection("watched")}?limit=1`)
  for (let index = 0; index < watchers; index++)
    stack.use(await client.watch(`${collection("watched")}?watch=1&resourceVersion=${resourceVersion}`))
  return stack
}
