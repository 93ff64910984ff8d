// Servers of aggregated APIs with documents of discovery and OpenAPI that are as they should be, or not, and what is made of them.

import { once } from "node:events"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { createAuthority, issueServingCertificate } from "../../../../gateway/pki/pki.ts"
import { get, mergePatch, patch, type RequestStep } from "../scenario.ts"
import { apiServices, group, registered, service, unregistered } from "./registered.ts"

interface Document {
  code?: number
  type?: string
  body?: unknown
}

/** By path; `@{group}` is that of the group version which is asked for first. */
type Documents = Readonly<Record<string, Document>>

export class DocumentServer implements AsyncDisposable {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(documents: Documents): Promise<DocumentServer> {
    const { certificate, key } = await issueServingCertificate(await createAuthority("documents"), ["localhost"])
    // Each scenario has a group of its own, which the server hears of by the check of its availability.
    let asked = ""
    const server = createServer({ cert: certificate, key }, (request, response) => {
      const [path = ""] = (request.url ?? "").split("?", 1)
      asked = /^\/apis\/([^/]+)\//.exec(path)?.[1] ?? asked
      const found = documents[path.replace(asked, "@{group}")] ?? { code: 404 }
      const { code = 200, type = "application/json", body = "" } = found
      const text = typeof body === "string" ? body : JSON.stringify(body)
      response.writeHead(code, { "content-type": type }).end(text.replaceAll("@{group}", asked))
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return new DocumentServer(server)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, "close")
  }
}

const type = (version: string): string => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`

const list = (...resources: unknown[]): Document => ({
  body: { kind: "APIResourceList", apiVersion: "v1", groupVersion: "@{group}/v1", resources },
})
const thing = { name: "things", singularName: "thing", namespaced: true, kind: "Thing", verbs: ["get", "list"] }
const usual: Documents = { "/apis/@{group}/v1": list(thing) }

const discovered = (version: string, of: unknown): Document => ({
  type: type(version),
  body: {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: [
      { metadata: { name: "@{group}" }, versions: [of] },
      { metadata: { name: "other.example.com" }, versions: [{ version: "v1" }] },
    ],
  },
})
const responseKind = { group: "@{group}", version: "v1", kind: "Thing" }
const shown = {
  resource: "things",
  responseKind,
  scope: "Namespaced",
  singularResource: "thing",
  verbs: ["get"],
  shortNames: ["th"],
  categories: ["all"],
  subresources: [
    { subresource: "status", responseKind, verbs: ["get"] },
    {
      subresource: "scale",
      responseKind: { group: "autoscaling", version: "v1", kind: "Scale" },
      verbs: ["get"],
      acceptedTypes: [responseKind],
    },
    { subresource: "bare", verbs: [] },
  ],
}

/** Name of the case → documents. */
export const discoveries: Readonly<Record<string, Documents>> = {
  "lists resources": usual,
  "lists resources with everything": {
    "/apis/@{group}/v1": list(
      { ...thing, shortNames: ["th"], categories: ["all"], group: "g", version: "v9", storageVersionHash: "x" },
      { name: "things/status", singularName: "", namespaced: true, kind: "Thing", verbs: ["get"] },
      {
        name: "things/scale",
        singularName: "",
        namespaced: true,
        group: "autoscaling",
        version: "v1",
        kind: "Scale",
        verbs: ["get"],
      },
      { name: "things/bare", namespaced: true, kind: "", verbs: ["get"] },
      { name: "things/a/b", namespaced: true, kind: "B", verbs: ["get"] },
      { name: "lone/status", namespaced: false, kind: "Lone", verbs: ["get"] },
      { name: "plain", namespaced: false, kind: "Plain", verbs: null },
    ),
  },
  "lists a subresource of another scope": {
    "/apis/@{group}/v1": list(thing, { name: "things/status", namespaced: false, kind: "Thing", verbs: ["get"] }),
  },
  "lists one resource twice": {
    "/apis/@{group}/v1": list(thing, { ...thing, kind: "Other" }, { ...thing, name: "things/status" }),
  },
  "lists resources with other fields": { "/apis/@{group}/v1": list({ ...thing, verbs: "get" }) },
  "lists nothing": { "/apis/@{group}/v1": list() },
  "lists something else": { "/apis/@{group}/v1": { body: { kind: "Status", apiVersion: "v1" } } },
  "answers with words": { "/apis/@{group}/v1": { type: "text/plain", body: "words" } },
  "has aggregated discovery": {
    ...usual,
    "/apis": discovered("v2", { version: "v1", resources: [shown], freshness: "Current" }),
  },
  "has older aggregated discovery": { ...usual, "/apis": discovered("v2beta1", { version: "v1", resources: [shown] }) },
  "has aggregated discovery of another version": {
    ...usual,
    "/apis": discovered("v2", { version: "v2", resources: [shown] }),
  },
  "has stale aggregated discovery": {
    ...usual,
    "/apis": discovered("v2", { version: "v1", resources: [shown], freshness: "Stale" }),
  },
  "has aggregated discovery of another kind": {
    ...usual,
    "/apis": { ...discovered("v2", { version: "v1", resources: [shown] }), type: "application/json" },
  },
  "has aggregated discovery that is none": { ...usual, "/apis": { type: type("v2"), body: "words" } },
  "has no aggregated discovery now": { ...usual, "/apis": { code: 503 } },
  "fails with its aggregated discovery": { ...usual, "/apis": { code: 500 } },
  "has only aggregated discovery": {
    "/apis/@{group}/v1": { code: 404 },
    "/apis": discovered("v2", { version: "v1", resources: [shown] }),
  },
}

/** Those that do not say what they serve. */
export const silent: ReadonlySet<string> = new Set([
  "lists a subresource of another scope",
  "lists resources with other fields",
  "lists something else",
  "answers with words",
  "has aggregated discovery that is none",
  "has no aggregated discovery now",
])

const aggregated = { accept: type("v2") }

/** Of the lowest priority, so that it comes last. */
const last = { groupPriorityMinimum: 1, versionPriority: 1 }

export function discovering(port: number, isUp: boolean): RequestStep[] {
  const freshness = isUp ? "Current" : "Stale"
  return [
    service(),
    registered("v1", port, last),
    get(`${apiServices}/v1.${group}`, { untilText: '"Available"', label: "GET until checked" }),
    get("/apis", { headers: aggregated, untilText: `"freshness":"${freshness}"}]}]}`, label: "GET discovery" }),
    get(`/apis/${group}`),
    patch(
      `${apiServices}/v1.${group}`,
      mergePatch,
      { spec: { service: { port: 1 } } },
      { label: "WRITE another port" },
    ),
    get(`${apiServices}/v1.${group}`, { untilText: "connection refused", label: "GET until unavailable" }),
    get("/apis", { headers: aggregated, untilText: '"freshness":"Stale"}]}]}', label: "GET discovery when down" }),
    unregistered("v1"),
    get(`/apis/${group}`, { untilCode: 404 }),
  ]
}

const text = { type: "string" }
const refersTo = (name: string) => ({ $ref: `#/definitions/${name}` })

/** An older OpenAPI document, for a version, with these definitions. */
function swagger(version: string, definitions: object, parameters: object = {}): Documents {
  const first = Object.keys(definitions)[0] ?? ""
  const response = { description: "OK", schema: refersTo(first) }
  const get = {
    operationId: `read${version}`,
    parameters: [{ $ref: "#/parameters/pretty" }],
    responses: { "200": response },
  }
  return {
    [`/apis/@{group}/${version}`]: usual["/apis/@{group}/v1"] ?? {},
    "/openapi/v2": {
      body: {
        swagger: "2.0",
        info: { title: version, version: "v0" },
        paths: { [`/apis/@{group}/${version}/things`]: { get }, "/apis/apps/v1/deployments": { get } },
        definitions,
        parameters,
      },
    },
  }
}

const meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
const thingOf = (more: object) => ({
  type: "object",
  properties: { a: text, meta: refersTo(meta), part: refersTo("Part"), ...more },
})

/** Two servers with one name for different definitions, which are those of a third one and of Kubernetes, too. */
export const alikeNamed: readonly Documents[] = [
  swagger(
    "v1",
    {
      Thing: thingOf({}),
      Part: { type: "object", properties: { x: text } },
      [meta]: { type: "object" },
      "io.k8s.api.core.v1.Pod": text,
    },
    { pretty: { name: "pretty", in: "query", type: "string" } },
  ),
  swagger(
    "v2",
    { Thing: thingOf({ b: text }), Part: { type: "object", properties: { y: text } }, Thing_v2: { type: "integer" } },
    { pretty: { name: "pretty", in: "query", type: "boolean" } },
  ),
  swagger("v3", { Thing: thingOf({}), Part: { type: "object", properties: { x: text } } }),
]

export function merging(ports: readonly number[]): RequestStep[] {
  const versions = ports.map((_, index) => `v${index + 1}`)
  const document = (label: string, more: Partial<RequestStep> = {}): RequestStep =>
    get("/openapi/v2", { document: true, label, ...more })
  const isThere = (version: string): RequestStep =>
    document(`GET with ${version}`, { untilText: `/apis/${group}/${version}/things` })
  return [
    service(),
    ...versions.flatMap((version, index) => [registered(version, ports[index] ?? 0), isThere(version)]),
    ...versions.map(unregistered),
    get(`/apis/${group}`, { untilCode: 404 }),
  ]
}
