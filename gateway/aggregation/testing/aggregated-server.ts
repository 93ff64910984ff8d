// An aggregated API of a tenant: a server behind a Service, reached through its pod's node. For tests.

import { afterAll, beforeAll, expect } from "vitest"
import { eventually } from "../../../test/harness/eventually.ts"
import type { Loose } from "../../testing/kinds.ts"
import { NodeFixture } from "../../testing/node-fixture.ts"
import {
  type RawAnswer,
  type RawRequest,
  startTestGateway,
  type TestGateway,
  type TestTenant,
} from "../../testing/start-gateway.ts"
import { FlunderServer, group } from "./flunder-server.ts"

export const services = "/apis/apiregistration.k8s.io/v1/apiservices"
export const authentication = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
/** Where the server is. */
export const wardle = { namespace: "default", name: "wardle" }
export const flunderResource = { group, version: "v1alpha1", resource: "flunders", namespaced: true }

export let gateway: TestGateway
export let tenant: TestTenant
/** The aggregated server. */
export let program: FlunderServer
let node: NodeFixture

/** All tests of the file share the server. */
export function useAggregatedServer(): void {
  beforeAll(async () => {
    node = await NodeFixture.start()
    gateway = await startTestGateway({ nodeDialer: () => node.dialer, http2: true })
    tenant = await gateway.createTenant("a")
    const { data } = await bodyOf(call(authentication))
    program = await FlunderServer.start(data["requestheader-client-ca-file"])
    const client = gateway.gateway.tenants.client("a")
    await node.addPod(client, "wardle", { 8443: program.port })
    await node.addService(client, "wardle", "wardle", { 443: 8443 })
    const body = apiService("v1alpha1", wardle, { caBundle: program.caBundle })
    expect((await call(services, { method: "POST", body })).code).toBe(201)
    await eventually(async () => (await available(`v1alpha1.${group}`))["status"] === "True")
  })
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]()
    await node?.[Symbol.asyncDispose]()
    program?.close()
  })
}

/** By the tenant's administrator. */
export const call = (path: string, options: RawRequest = {}): Promise<RawAnswer> =>
  gateway.request(`/tenants/a${path}`, { ...tenant, ...options })
export const bodyOf = async (answer: Promise<RawAnswer>): Promise<Loose> => (await answer).json() as Loose

/** All groups and versions in one document. */
export async function aggregatedDiscovery(): Promise<Loose[]> {
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
  return (await bodyOf(call("/apis", { headers: { accept } })))["items"]
}

export function apiService(version: string, service: Loose | undefined, more: Loose = {}): Loose {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `${version}.${group}` },
    spec: {
      group,
      version,
      groupPriorityMinimum: 2000,
      versionPriority: 200,
      ...(service ? { service } : {}),
      ...more,
    },
  }
}

/** Its condition. */
export const available = async (name: string): Promise<Loose> => {
  const { status } = await bodyOf(call(`${services}/${name}`))
  return status?.conditions?.[0] ?? {}
}
