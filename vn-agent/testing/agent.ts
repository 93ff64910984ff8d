// A vn-agent over TLS between a caller and a kubelet that answers every call, for tests.

import { createPublicKey, generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { request as httpsRequest } from "node:https"
import type { Socket } from "node:net"
import { afterAll, beforeAll, beforeEach } from "vitest"
import type { Pod } from "../../apimachinery/object.ts"
import { notFound, serviceUnavailable } from "../../apimachinery/status.ts"
import { clusterAnnotation, namespaceAnnotation, uidAnnotation } from "../../apimachinery/tenancy.ts"
import { openUpgrade, type UpgradedConnection, type UpgradeTarget } from "../../client/http/upgrade.ts"
import { silentLog } from "../../client/log.ts"
import { pods as podsResource } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { createAuthority, issueClientCertificate, issueServingCertificate } from "../../gateway/pki/pki.ts"
import { signIdentity } from "../identity.ts"
import type { VnAgentOptions } from "../options.ts"
import { VnAgent } from "../server.ts"
import { startKubelet } from "./kubelet.ts"

export const node = "node-1"
export const host = "127.0.0.1"
export const identity = { tenant: "a", clusterKey: "ns-123456-a" }
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })

export let agent: VnAgent
/** An agent that uses an API server, with a token. */
export let remoteAgent: VnAgent
/** The authority of the agents' certificates. */
export let ca: string
export let options: Omit<VnAgentOptions, "kubelet">

export const observed: Parameters<typeof startKubelet>[1] = { seen: [], sockets: new Set<Socket>() }
export const { seen, sockets } = observed
/** Super namespace/name → pod. */
const pods = new Map<string, Pod>()
export const superCluster = {
  answers: true,
  /** Called for each lookup, which waits for it before it responds. */
  onLookup: (): Promise<void> => Promise.resolve(),
  /** Likewise for each token that an agent needs for its API server. */
  onToken: (): Promise<void> => Promise.resolve(),
}

/** All tests of the file share the agents; each begins with the same pods, and with a kubelet that has seen no requests. */
export function useAgent(): void {
  const stack = new AsyncDisposableStack()
  beforeAll(() => start(stack))
  afterAll(() => stack.disposeAsync())
  beforeEach(() => {
    seen.length = 0
    observed.refusal = undefined
    observed.log = undefined
    superCluster.answers = true
    superCluster.onLookup = superCluster.onToken = () => Promise.resolve()
    pods.clear()
    podOf(identity.clusterKey, "shop", "web")
    podOf(identity.clusterKey, "shop", "elsewhere", "node-2")
    podOf("ns-654321-b", "shop", "web")
    // As if a namespace of b had the name of a's "shop-web" in the super cluster.
    pods.set("ns-123456-a-stolen/web", pods.get("ns-654321-b-shop/web") as Pod)
  })
}

async function start(stack: AsyncDisposableStack): Promise<void> {
  const authority = await createAuthority("nodes")
  const serving = await issueServingCertificate(authority, [host])
  const client = await issueClientCertificate(authority, {
    name: "kube-apiserver-kubelet-client",
    groups: ["system:masters"],
  })
  ca = authority.certificate
  const { port, close } = await startKubelet({ cert: serving.certificate, key: serving.key, ca }, observed)
  stack.defer(close)
  const kubelet = { host, port, certificateAuthority: ca, certificate: client.certificate, key: client.key }
  options = {
    node,
    host,
    port: 0,
    tls: serving,
    identityKeys: [createPublicKey(privateKey)],
    superClient,
    limits: { connections: 16 },
    log: silentLog,
  }
  agent = stack.use(await VnAgent.start({ ...options, kubelet }))
  const token = () => superCluster.onToken().then(() => "ours")
  remoteAgent = stack.use(await VnAgent.start({ ...options, kubelet: { ...kubelet, apiServerPath: "/base", token } }))
}

const superClient = {
  get: async (_resource: unknown, namespace: string, name: string) => {
    await superCluster.onLookup()
    if (!superCluster.answers) return Promise.reject(serviceUnavailable("the super cluster does not answer"))
    const pod = pods.get(`${namespace}/${name}`)
    return pod === undefined ? Promise.reject(notFound(podsResource, name)) : Promise.resolve(pod)
  },
} as unknown as KubeClient

export function podOf(clusterKey: string, namespace: string, name: string, nodeName = node): void {
  pods.set(`${clusterKey}-${namespace}/${name}`, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      annotations: { [clusterAnnotation]: clusterKey, [namespaceAnnotation]: namespace, [uidAnnotation]: "uid-1" },
    },
    spec: { nodeName, containers: [{ name: "main" }] },
  } as unknown as Pod)
}

export const bearer = async (who = identity, where = node) => ({
  authorization: `Bearer ${await signIdentity(who, where, privateKey)}`,
})

type Headers = Record<string, string>

/** Begins a call on a new connection. */
export const call = (path: string, headers: Headers, to = agent) =>
  httpsRequest({ host, port: to.port, ca, agent: false, path, headers })

export async function ask(
  path: string,
  headers: Headers,
  to = agent,
  body?: string,
): Promise<{ code: number; text: string }> {
  const request = call(path, headers, to)
  request.end(body)
  const [response] = (await once(request, "response")) as [IncomingMessage]
  return { code: response.statusCode ?? 0, text: Buffer.concat(await response.toArray()).toString() }
}

export const spdy = { connection: "Upgrade", upgrade: "SPDY/3.1" }
/** Of clients that say in which version they speak. */
export const spdyOf = (protocol: string) => ({ ...spdy, "x-stream-protocol-version": protocol })

export const openStream = (
  path: string,
  headers: Headers,
  more: Partial<UpgradeTarget> = {},
): Promise<UpgradedConnection> => openUpgrade({ host, port: agent.port, ca, agent: false, path, headers, ...more })
