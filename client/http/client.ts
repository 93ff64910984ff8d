// KubeClient over HTTPS. This file defines the requests; a transport sends them: that of transport.ts to one API server, or another
// (gateway/aggregation/transport.ts).

import type { IncomingMessage } from "node:http"
import type { KubeObject } from "../../apimachinery/object.ts"
import { StatusError } from "../../apimachinery/status.ts"
import { discoverOverHttp, unavailableOverHttp } from "./discovery.ts"
import { isStatus } from "./errors.ts"
import { HttpTransport, type HttpClientConfig, type TlsIdentity, type TransportRequest } from "./transport.ts"
import { deleteOptions, isList, isObject, withKinds } from "./bodies.ts"
import { listQuery, objectPath, resourcePath, watchQuery, writeQuery } from "./paths.ts"
import type {
  KubeClient,
  KubeList,
  ListOptions,
  PatchOptions,
  Resource,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "../rest.ts"

export type { HttpClientConfig, HttpClientLimits } from "./transport.ts"

/** Requested timeout of a watch: five to ten minutes, random so that watches do not all reconnect at once. */
const watchSeconds = { least: 300, most: 600 } as const
/** A silent watch is considered dead this long after its timeout. */
const watchGraceMs = 30_000

const patchTypes: Record<PatchOptions["type"], string> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
}

export interface HttpClient extends KubeClient, AsyncDisposable {
  /** Applies to new connections. */
  renew(identity: TlsIdentity): void
}

/** Sends the requests of a client. All errors are StatusErrors. */
export interface Transport {
  readonly limits: { watchLineBytes: number }
  /** Returns the head of a successful response; the caller reads the body. */
  open(request: TransportRequest): Promise<IncomingMessage>
  readBody(request: TransportRequest, response: IncomingMessage): Promise<Buffer>
  asStatusError(request: TransportRequest, error: unknown): StatusError
}

export function createHttpClient(config: HttpClientConfig): HttpClient {
  const transport = new HttpTransport(config)
  return {
    ...clientOver(transport),
    renew: (identity) => transport.renew(identity),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}

export function clientOver(transport: Transport): KubeClient {
  const call = <T>(request: TransportRequest): Promise<T> => callJson<T>(transport, request)
  const write = <T extends KubeObject>(method: string, path: string, body: unknown): Promise<T> =>
    call<T>({ method, path, body: JSON.stringify(body), headers: { "content-type": "application/json" } })

  return {
    discover: () => discoverOverHttp(call),
    unavailable: () => unavailableOverHttp(call),
    async get(resource, namespace, name, options = {}) {
      return call({
        method: "GET",
        path: objectPath(resource, namespace, name, options.subresource),
        headers: acceptOf(options, "PartialObjectMetadata"),
      })
    },
    raw: (path) => call({ method: "GET", path }),
    list: <T extends KubeObject>(resource: Resource, options: ListOptions = {}) =>
      list<T>(transport, resource, options),
    watch: (resource, options) => watch(transport, resource, options),
    create<T extends KubeObject>(resource: Resource, object: T, options: WriteOptions = {}) {
      const { namespace, name } = object.metadata
      const of = options.subresource === undefined ? undefined : (name ?? "")
      return write<T>("POST", resourcePath(resource, namespace, of, options.subresource) + writeQuery(options), object)
    },
    async update<T extends KubeObject>(resource: Resource, object: T, options: WriteOptions = {}) {
      const { namespace, name = "" } = object.metadata
      return write<T>("PUT", objectPath(resource, namespace, name, options.subresource) + writeQuery(options), object)
    },
    async patch(resource, namespace, name, patch, options) {
      return call({
        method: "PATCH",
        path: objectPath(resource, namespace, name, options.subresource) + writeQuery(options),
        body: JSON.stringify(patch),
        headers: { "content-type": patchTypes[options.type] },
      })
    },
    async delete(resource, namespace, name, options = {}) {
      await write("DELETE", objectPath(resource, namespace, name), deleteOptions(options))
    },
    async deleteCollection(resource, namespace, selectors = {}, options = {}) {
      await write("DELETE", resourcePath(resource, namespace) + listQuery(selectors), deleteOptions(options))
    },
  }
}

/** Servers that cannot reduce objects return them whole. */
function acceptOf({ metadataOnly = false }: { metadataOnly?: boolean }, kind: string): Record<string, string> {
  const json = "application/json"
  return metadataOnly ? { accept: `${json};as=${kind};g=meta.k8s.io;v=v1,${json}` } : {}
}

async function callJson<T>(transport: Transport, request: TransportRequest): Promise<T> {
  const response = await transport.open(request)
  const body = await transport.readBody(request, response)
  let answer: unknown
  try {
    answer = JSON.parse(body.toString("utf8"))
  } catch (error) {
    throw transport.asStatusError(request, new Error("the answer is not JSON", { cause: error }))
  }
  if (typeof answer !== "object" || answer === null)
    throw transport.asStatusError(request, new Error("the answer is not an object"))
  return answer as T
}

async function list<T extends KubeObject>(
  transport: Transport,
  resource: Resource,
  options: ListOptions,
): Promise<KubeList<T>> {
  const request: TransportRequest = {
    method: "GET",
    path: resourcePath(resource, options.namespace) + listQuery(options),
    headers: acceptOf(options, "PartialObjectMetadataList"),
    signal: options.signal,
  }
  const found = await callJson<KubeList<T>>(transport, request)
  if (!isList(found)) throw transport.asStatusError(request, new Error("the answer is not a list of objects"))
  return withKinds(found)
}

async function* watch<T extends KubeObject>(
  transport: Transport,
  resource: Resource,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const seconds = watchSeconds.least + Math.floor(Math.random() * (watchSeconds.most - watchSeconds.least))
  const request: TransportRequest = {
    method: "GET",
    path: resourcePath(resource, options.namespace) + watchQuery(options, seconds),
    headers: acceptOf(options, "PartialObjectMetadata"),
    signal: options.signal,
    stream: { idleMs: seconds * 1000 + watchGraceMs },
  }
  try {
    const response = await transport.open(request)
    try {
      for await (const line of lines(response, transport.limits.watchLineBytes)) {
        const event = readEvent<T>(line)
        if (event !== undefined) yield event
      }
    } finally {
      response.destroy()
    }
  } catch (error) {
    if (options.signal.aborted) return
    throw transport.asStatusError(request, error)
  }
}

/** Undefined for events of other types, which client-go ignores, too. */
function readEvent<T extends KubeObject>(line: string): WatchEvent<T> | undefined {
  const { type, object } = JSON.parse(line) as { type: string; object: unknown }
  if (type === "ERROR") {
    if (isStatus(object)) throw new StatusError(object)
    throw new Error("the watch ended with an error that is no Status")
  }
  if (!eventTypes.has(type)) return undefined
  if (!isObject(object)) throw new Error("the watch delivered something that is not an object")
  return { type: type as WatchEvent<T>["type"], object: object as T }
}

const eventTypes: ReadonlySet<string> = new Set(["ADDED", "MODIFIED", "DELETED", "BOOKMARK"])

/** Splits a stream of bytes into lines. The pieces of a long line are joined once, at its end. */
export async function* lines(stream: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  let pieces: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const tail = chunk.subarray(start, end)
      const line = pieces.length === 0 ? Buffer.from(tail) : Buffer.concat([...pieces, tail])
      pieces = []
      size = 0
      start = end + 1
      if (line.length > maxBytes) throw new Error(`a watch event exceeds ${maxBytes} bytes`)
      if (line.length > 0) yield line.toString("utf8")
    }
    if (start === chunk.length) continue
    pieces.push(chunk.subarray(start))
    size += chunk.length - start
    if (size > maxBytes) throw new Error(`a watch event exceeds ${maxBytes} bytes`)
  }
  // A line without a line break was cut off by a broken connection: resuming delivers it again.
}
