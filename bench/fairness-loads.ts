// Single actions of each kind of greed; fairness-load.ts repeats them.

import { connect } from "node:tls"
import type { Call, Server } from "./api-client.ts"
import type { LoadKind } from "./fairness-kinds.ts"

type CallServer = (call: Call) => Promise<unknown>

interface Load {
  /** Creates the required objects. */
  prepare?(): Promise<void>
  once(turn: number): Promise<unknown>
  /** Number of concurrent actions, if different from the requested number. */
  parallel?: number
}

const objects = 2000
const manyObjects = 50_000
const deletedAtOnce = 1000
const pipelinedRequests = 1000
/** Each write causes so many events that few writers suffice. */
const writersBesideWatches = 4

const collection = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`
export const watched = collection("default")
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
const validatedPath = "/apis/bench.example.com/v1/namespaces/default/ruleds"
const pods = "/api/v1/namespaces/default/pods"
const deployments = "/apis/apps/v1/namespaces/default/deployments"

export function loads(server: Server, call: CallServer): Record<LoadKind, Load> {
  const post = (path: string, body: object): Promise<unknown> =>
    call({ method: "POST", path, body: JSON.stringify(body) })
  const fill = async (namespace: string, count: number): Promise<void> => {
    const indexes = Array.from({ length: count }, (_, index) => index).values()
    const filling = async (): Promise<void> => {
      for (const index of indexes) await post(collection(namespace), configMap(`o${index}`, index))
    }
    await Promise.all(Array.from({ length: 32 }, filling))
  }
  const make = (namespace: string): Promise<unknown> =>
    post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } })
  const prepare = (): Promise<void> => fill("default", objects)
  const get = (turn: number) => call({ method: "GET", path: `${watched}/o${turn % objects}` })
  const list = () => call({ method: "GET", path: watched })
  const write = (turn: number) =>
    call({
      method: "PATCH",
      path: `${watched}/o${turn % objects}`,
      contentType: "application/merge-patch+json",
      body: JSON.stringify({ data: { turn: String(turn) } }),
    })
  return {
    reads: { prepare, once: get },
    writes: { prepare, once: write },
    lists: { prepare, once: list },
    watches: { prepare, once: write, parallel: writersBesideWatches },
    all: { prepare, once: (turn) => (turn % 20 === 0 ? list() : turn % 2 === 0 ? write(turn) : get(turn)) },
    bodies: { once: () => call({ method: "POST", path: `${watched}?dryRun=All`, body: manyKeys }) },
    dense: { once: () => call({ method: "POST", path: `${pods}?dryRun=All`, body: manyVolumes }) },
    applies: { once: (turn) => call(application(turn)), parallel: 4 },
    selectors: {
      async prepare() {
        await make("many")
        await fill("many", manyObjects)
      },
      once: (turn) => call({ method: "GET", path: `${collection("many")}?labelSelector=of%3Da${turn % 100}` }),
    },
    deletes: {
      prepare: async () => void (await make("gone")),
      async once() {
        await fill("gone", deletedAtOnce)
        await call({ method: "DELETE", path: collection("gone") })
      },
      parallel: 1,
    },
    rules: {
      async prepare() {
        await post(definitions, definition)
        await served(() => call({ method: "GET", path: validatedPath }))
      },
      once: () => post(`${validatedPath}?dryRun=All`, custom),
    },
    connections: { once: () => sendRaw(server, watched, 1) },
    ahead: { once: () => sendRaw(server, "/version", pipelinedRequests) },
  }
}

/** The resources of a new definition are served a moment later. */
async function served(ask: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await ask()
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

const configMap = (name: string, index: number) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels: { of: `a${index % 100}` } },
  data: { text: "x".repeat(500) },
})

const manyKeys = JSON.stringify({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "many-keys" },
  data: Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`key-${index + 100_000}`, `value${index}`])),
})

/** Refused, but only after most of the work. */
const manyVolumes = JSON.stringify({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "many-volumes" },
  spec: {
    containers: [{ name: "a", image: "a" }],
    volumes: Array.from({ length: 60_000 }, (_, index) => ({ name: `v${index}`, emptyDir: {} })),
  },
})

function application(turn: number): Call {
  const name = `applied-${turn % 4}`
  const labels = { app: "a" }
  const env = Array.from({ length: 5000 }, (_, index) => ({ name: `n${index}`, value: `v${turn}` }))
  return {
    method: "PATCH",
    path: `${deployments}/${name}?fieldManager=bench&force=true`,
    contentType: "application/apply-patch+yaml",
    body: JSON.stringify({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "a", image: "a", env }] } },
      },
    }),
  }
}

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "ruleds.bench.example.com" },
  spec: {
    group: "bench.example.com",
    scope: "Namespaced",
    names: { plural: "ruleds", singular: "ruled", kind: "Ruled" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: validatedSchema() } }],
  },
}

function validatedSchema() {
  const items = { type: "array", maxItems: 300, items: { type: "string", maxLength: 10 } }
  // Quadratic: close to the cost that upstream allows for a rule.
  const rule = "self.items.all(a, self.items.exists(b, a != b || a.size() < 20))"
  const spec = { type: "object", properties: { items }, "x-kubernetes-validations": [{ rule }] }
  return { type: "object", properties: { spec } }
}

const custom = {
  apiVersion: "bench.example.com/v1",
  kind: "Ruled",
  metadata: { name: "a" },
  spec: { items: Array.from({ length: 300 }, () => "same") },
}

/** Sends the same request this many times on a separate connection, until it receives data or the gateway closes it. */
async function sendRaw({ url, certificate, key }: Server, path: string, times: number): Promise<void> {
  const { hostname, port, pathname } = new URL(url)
  const own = certificate === undefined || key === undefined ? {} : { cert: certificate, key }
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false, ...own })
  const ended = new Promise((resolve) => {
    socket.once("data", resolve)
    socket.once("close", resolve)
    socket.on("error", resolve)
  })
  socket.write(`GET ${pathname}${path} HTTP/1.1\r\nhost: a\r\n\r\n`.repeat(times))
  await ended
  socket.destroy()
}
