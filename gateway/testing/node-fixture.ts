// A node for tests of connections through nodes: a kubelet server that maps ports of pods to servers of the test, and the
// corresponding objects of the tenant.

import { connect } from "node:net"
import type { Duplex } from "node:stream"
import { silentLog } from "../../client/log.ts"
import { endpoints, endpointSlices, nodes, pods, services } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import type { PodSandbox } from "../../simulator/kubelet/pod-sandbox.ts"
import type { NodeServer } from "../../client/http/node-server.ts"
import { startKubeletServer } from "../../simulator/kubelet-server/server.ts"
import type { SuperNodeDialer } from "../control-plane/node-dialer.ts"
import { createAuthority, type IssuedCertificate, issueClientCertificate, issueServingCertificate } from "../pki/pki.ts"
import type { Loose } from "./kinds.ts"

const host = "127.0.0.1"
/** Of every pod, as reported; connections go through its node. */
const podIP = "10.1.0.1"

export class NodeFixture implements AsyncDisposable {
  readonly #kubelet: NodeServer
  /** PEM of the authority of the kubelet and of its clients. */
  readonly #authority: string
  readonly #client: IssuedCertificate
  /** By "namespace/pod": the ports of the pod, and the local ports to which they lead. */
  readonly #ports: Map<string, Readonly<Record<number, number>>>

  private constructor(
    kubelet: NodeServer,
    authority: string,
    client: IssuedCertificate,
    ports: Map<string, Readonly<Record<number, number>>>,
  ) {
    this.#kubelet = kubelet
    this.#authority = authority
    this.#client = client
    this.#ports = ports
  }

  /** `callers`: PEM of the authority of its clients; default: its own. */
  static async start(callers?: string): Promise<NodeFixture> {
    const authority = await createAuthority("test node")
    const client = await issueClientCertificate(authority, { name: "gateway", groups: [] })
    const ports = new Map<string, Readonly<Record<number, number>>>()
    const kubelet = await startKubeletServer({
      node: "node-1",
      host,
      port: 0,
      tls: await issueServingCertificate(authority, [host]),
      clientCertificateAuthority: callers ?? authority.certificate,
      sandbox: (namespace, pod) => sandboxOf(pod, ports.get(`${namespace}/${pod}`)),
      log: silentLog,
    })
    return new NodeFixture(kubelet, authority.certificate, client, ports)
  }

  get port(): number {
    return this.#kubelet.port
  }

  get dialer(): SuperNodeDialer {
    const { certificate: cert, key } = this.#client
    return { dial: async () => ({ host, port: this.#kubelet.port, ca: this.#authority, cert, key, agent: false }) }
  }

  /** Creates a pod on the node; `ports`: local port by port of the pod; `isDeclared`: these are in its spec. */
  async addPod(
    client: KubeClient,
    name: string,
    ports: Readonly<Record<number, number>>,
    isDeclared = true,
  ): Promise<void> {
    await make(client, nodes, { kind: "Node", apiVersion: "v1", metadata: { name: "node-1" } }).catch(() => undefined)
    this.#ports.set(`default/${name}`, ports)
    const metadata = { name, namespace: "default" }
    const declared = isDeclared ? Object.keys(ports).map((port) => ({ containerPort: Number(port) })) : []
    const containers = [{ name: "a", image: "b", ports: declared }]
    const spec = { nodeName: "node-1", serviceAccountName: "default", containers }
    await make(client, pods, { kind: "Pod", apiVersion: "v1", metadata, spec })
    const status = { podIP, podIPs: [{ ip: podIP }] }
    await client.patch(pods, "default", name, { status }, { type: "merge", subresource: "status" })
  }

  /** `ports`: the pod's port by the Service's port; named "p<port>". */
  async addService(
    client: KubeClient,
    name: string,
    pod: string,
    ports: Readonly<Record<number, number>>,
  ): Promise<void> {
    const all = Object.entries(ports).map(([port, targetPort]) => ({
      name: `p${port}`,
      port: Number(port),
      targetPort,
    }))
    const metadata = { name, namespace: "default" }
    const targetRef = { kind: "Pod", name: pod, namespace: "default" }
    const podPorts = all.map(({ name: portName, targetPort }) => ({ name: portName, port: targetPort }))
    await make(client, services, { kind: "Service", apiVersion: "v1", metadata, spec: { ports: all } })
    await make(client, endpoints, {
      kind: "Endpoints",
      apiVersion: "v1",
      metadata,
      subsets: [{ addresses: [{ ip: podIP, targetRef }], ports: podPorts }],
    })
    await make(client, endpointSlices, {
      kind: "EndpointSlice",
      apiVersion: "discovery.k8s.io/v1",
      metadata: { ...metadata, labels: { "kubernetes.io/service-name": name } },
      addressType: "IPv4",
      ports: podPorts,
      endpoints: [{ addresses: [podIP], conditions: { ready: true }, targetRef }],
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kubelet[Symbol.asyncDispose]()
  }
}

const make = (client: KubeClient, resource: Parameters<KubeClient["create"]>[0], object: Loose): Promise<KubeObject> =>
  client.create(resource, object as KubeObject)

/** Its container "a" has written one line. */
function sandboxOf(name: string, ports: Readonly<Record<number, number>> | undefined): PodSandbox | undefined {
  if (ports === undefined) return undefined
  const open = (port: number): Duplex | undefined => {
    const target = ports[port]
    return target === undefined ? undefined : connect(target, host)
  }
  const log = { lines: [{ at: 0, stream: "stdout", text: "hello" }], ended: true }
  const containers = new Map([["a", { current: { connect: open, log } }]])
  return {
    pod: { metadata: { name } },
    containers,
    initContainers: new Map(),
    find: (container: string) => containers.get(container),
  } as unknown as PodSandbox
}
