// A custom metrics API, played: a server of its own for each side, which aggregates it. It says of a namespace's objects what
// scenarios have told it.

import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { timestamp, type Pod } from "../../../apimachinery/object.ts"
import { pods, services } from "../../../client/resources.ts"
import { apiServices } from "../../../client/api-services.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { createAuthority, issueServingCertificate } from "../../../gateway/pki/pki.ts"
import { eventually } from "../../harness/eventually.ts"

const groupVersion = "custom.metrics.k8s.io/v1beta2"
/** Later than pods that became ready just now: what was measured before does not count. */
const aheadMs = 3_600_000

export interface CustomMetric {
  /** "pods", "services", "deployments.apps"; "metrics" for those of the namespace itself. */
  resource: string
  metric: string
  /** Printed. */
  selector?: string
}

export interface Value {
  /** Of the object. */
  name: string
  value: string
}

export class CustomMetrics implements AsyncDisposable {
  readonly #client: KubeClient
  readonly #values = new Map<string, readonly Value[]>()
  readonly #stack = new AsyncDisposableStack()

  private constructor(client: KubeClient) {
    this.#client = client
  }

  /** Until the API server of `client` serves it. */
  static async start(client: KubeClient): Promise<CustomMetrics> {
    const metrics = new CustomMetrics(client)
    await aggregate(client, await metrics.#listen())
    return metrics
  }

  /** All there is to be said of it in the namespace. */
  set(namespace: string, metric: CustomMetric, values: readonly Value[]): void {
    this.#values.set(keyOf(namespace, metric), values)
  }

  async #listen(): Promise<number> {
    const authority = await createAuthority("custom-metrics")
    const { certificate, key } = await issueServingCertificate(authority, ["localhost"])
    const server = createServer({ cert: certificate, key }, ({ url = "" }, response) => {
      this.#answer(new URL(url, "https://localhost")).then(
        ([code, body]) => write(response, code, body),
        (error: unknown) => write(response, 500, status(500, "InternalError", String(error))),
      )
    })
    this.#stack.defer(() => {
      server.close()
      server.closeAllConnections()
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return (server.address() as AddressInfo).port
  }

  async #answer({ pathname, searchParams }: URL): Promise<[code: number, body: object]> {
    const root = `/apis/${groupVersion}`
    if (pathname === root) return [200, { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources: [] }]
    const [place, namespace = "", resource = "", ...rest] = pathname
      .slice(root.length + 1)
      .split("/")
      .map(decodeURIComponent)
    if (place !== "namespaces") return [404, status(404, "NotFound", "404 page not found")]
    const [name, metric = ""] = resource === "metrics" ? [namespace, rest[0]] : [rest[0] ?? "", rest[1]]
    const selector = searchParams.get("metricLabelSelector") ?? ""
    const values = this.#values.get(keyOf(namespace, { resource, metric, selector }))
    if (values === undefined) {
      return [404, status(404, "NotFound", `the server could not find the metric ${metric} for ${resource} ${name}`)]
    }
    const isSelected =
      name === "*"
        ? await this.#selects(namespace, searchParams.get("labelSelector") ?? "")
        : (other: string): boolean => other === name
    const items = values
      .filter((each) => isSelected(each.name))
      .map((each) => ({
        describedObject: { kind: resource, namespace, name: each.name },
        metric: { name: metric },
        timestamp: timestamp(new Date(Date.now() + aheadMs)),
        value: each.value,
      }))
    return [200, { kind: "MetricValueList", apiVersion: groupVersion, metadata: {}, items }]
  }

  /** As adapters do it: of pods that are there. */
  async #selects(namespace: string, labelSelector: string): Promise<(name: string) => boolean> {
    const { items } = await this.#client.list<Pod>(pods, { namespace, labelSelector })
    const names = new Set(items.map(({ metadata }) => metadata.name))
    return (name) => names.has(name)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }
}

const keyOf = (namespace: string, { resource, metric, selector = "" }: CustomMetric): string =>
  [namespace, resource, metric, selector].join("/")

const status = (code: number, reason: string, message: string): object => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  code,
  reason,
  message,
})

function write(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { "content-type": "application/json" })
  response.end(JSON.stringify(body))
}

async function aggregate(client: KubeClient, port: number): Promise<void> {
  const [group = "", version = ""] = groupVersion.split("/")
  const service = { namespace: "kube-system", name: "custom-metrics" }
  await client.create(services, {
    apiVersion: "v1",
    kind: "Service",
    metadata: service,
    spec: { type: "ExternalName", externalName: "localhost", ports: [{ port }] },
  })
  await client.create(apiServices, {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `${version}.${group}` },
    spec: {
      group,
      version,
      service: { ...service, port },
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  })
  await eventually(() => client.raw(`/apis/${groupVersion}`), { what: "a custom metrics API" })
}
