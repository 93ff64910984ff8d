// A real aggregated API server beside a cluster: upstream's sample-apiserver, with an etcd of its own. The cluster's Service leads to
// this machine. It stores flunders (in namespaces, two versions) and fischers (in none, one version).

import { readFile, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { parse, stringify } from "yaml"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { clusterRoleBindings, clusterRoles, namespaces, serviceAccounts, services } from "../../../client/resources.ts"
import type { KubeClient, Resource } from "../../../client/rest.ts"
import { type APIService, apiServices, isAvailable } from "../../../client/api-services.ts"
import { createAuthority, issueServingCertificate } from "../../../gateway/pki/pki.ts"
import { eventually } from "../../harness/eventually.ts"
import { temporaryFolder } from "../../harness/folders.ts"
import { freePorts } from "../../harness/ports.ts"
import { binary } from "../build/cache.ts"
import { TestEtcd } from "../etcd/test-etcd.ts"
import { Component } from "../harness/component.ts"

export const group = "wardle.example.com"
/** By priority. */
const versions = ["v1beta1", "v1alpha1"] as const
export const flunders: Resource = { group, version: "v1beta1", resource: "flunders", namespaced: true }
export const fischers: Resource = { group, version: "v1alpha1", resource: "fischers", namespaced: false }

/** For kube-apiserver: otherwise it does not go where an ExternalName leads, and tells nobody in which header it sends uids. */
export const aggregatingFlags = ["--enable-aggregator-routing=false", "--requestheader-uid-headers=X-Remote-Uid"]
/** For the gateway. */
export const allowedNetworks = ["127.0.0.0/8"]
export const programs = ["etcd", "sample-apiserver"]

const priority = 1000
const checkEveryMs = 1_000

const namespace = "wardle"
const account = "apiserver"
const service = { namespace, name: "api" }

/** A cluster, as its administrator. */
export interface Cluster {
  client: KubeClient
  /** Path. */
  kubeconfig: string
}

export class Wardle implements AsyncDisposable {
  readonly #client: KubeClient
  readonly #folder: string
  readonly #stack = new AsyncDisposableStack()
  #port = 0
  #checks = 0
  #etcd: TestEtcd | undefined
  #server: Component | undefined

  private constructor(client: KubeClient, folder: string) {
    this.#client = client
    this.#folder = folder
    this.#stack.defer(() => rm(folder, { recursive: true, force: true }))
  }

  /** Until the cluster serves it. */
  static async start({ client, kubeconfig }: Cluster): Promise<Wardle> {
    const wardle = new Wardle(client, await temporaryFolder("polyplane-wardle"))
    try {
      await wardle.#start(kubeconfig)
      return wardle
    } catch (error) {
      await wardle[Symbol.asyncDispose]()
      throw error
    }
  }

  async #start(kubeconfig: string): Promise<void> {
    const client = this.#client
    const [etcd, [port = 0], authority] = await Promise.all([
      TestEtcd.start(),
      freePorts(1),
      createAuthority("wardle"),
      installAccount(client),
    ])
    this.#etcd = this.#stack.use(etcd)
    this.#port = port
    const { certificate, key } = await issueServingCertificate(authority, [`${service.name}.${namespace}.svc`])
    await Promise.all([
      this.#write("tls.crt", certificate),
      this.#write("tls.key", key),
      this.#write("audit.json", JSON.stringify(auditPolicy)),
      this.#write("kubeconfig", await asAccount(client, kubeconfig)),
    ])
    await this.startServer()
    await register(client, port, Buffer.from(authority.certificate).toString("base64"))
    await this.available(true)
  }

  /** Also again, after stopServer(): with what it had. */
  async startServer(): Promise<void> {
    const kubeconfig = this.#path("kubeconfig")
    const program = await binary("sample-apiserver")
    const args = [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      `--etcd-servers=${this.#etcd?.servers.join() ?? ""}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${this.#port}`,
      `--tls-cert-file=${this.#path("tls.crt")}`,
      `--tls-private-key-file=${this.#path("tls.key")}`,
      `--audit-policy-file=${this.#path("audit.json")}`,
      `--audit-log-path=${this.#path("audit.log")}`,
    ]
    this.#server = this.#stack.use(
      await Component.start({ name: "sample-apiserver", program, args, logFile: this.#path("log") }),
    )
  }

  async stopServer(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]()
  }

  /** Until the cluster has noticed that it answers, or that it does not. */
  async available(wanted: boolean): Promise<void> {
    const what = `the aggregated API ${wanted ? "is" : "is not"} available`
    let isDueAt = 0
    await eventually(
      async () => {
        if (performance.now() >= isDueAt) {
          await this.#haveChecked()
          isDueAt = performance.now() + checkEveryMs
        }
        const { ended } = this.#server ?? {}
        if (wanted && ended !== undefined) throw new Error(`${ended}: ${await readFile(this.#path("log"), "utf8")}`)
        const all = versions.map((version) =>
          this.#client.get<APIService>(apiServices, undefined, `${version}.${group}`),
        )
        return (await Promise.all(all)).every((each) => isAvailable(each) === wanted)
      },
      { what },
    )
  }

  /** Both check a server every 30 s, or when its APIService changes. */
  async #haveChecked(): Promise<void> {
    const spec = { groupPriorityMinimum: priority + ++this.#checks }
    for (const version of versions) {
      await this.#client.patch(apiServices, undefined, `${version}.${group}`, { spec }, { type: "merge" })
    }
  }

  /** What it has been asked, by whom. */
  async audit(): Promise<AuditEvent[]> {
    const lines = (await readFile(this.#path("audit.log"), "utf8")).trimEnd().split("\n")
    return lines.map((line) => JSON.parse(line) as AuditEvent)
  }

  #path(name: string): string {
    return path.join(this.#folder, name)
  }

  #write(name: string, text: string): Promise<void> {
    return writeFile(this.#path(name), text, { mode: 0o600 })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }
}

export interface AuditEvent {
  auditID: string
  verb: string
  requestURI: string
  user: { username: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> }
  impersonatedUser?: unknown
  userAgent?: string
  responseStatus?: { code: number }
}

const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived", "ResponseStarted"],
  rules: [{ level: "Metadata" }],
}

/** Its rights, as its example gives them. */
async function installAccount(client: KubeClient): Promise<void> {
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } })
  await client.create(serviceAccounts, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { namespace, name: account },
  })
  const read = ["get", "list", "watch"]
  await client.create(clusterRoles, {
    ...rbac("ClusterRole", { name: "wardle" }),
    rules: [
      { apiGroups: [""], resources: ["namespaces"], verbs: read },
      { apiGroups: ["admissionregistration.k8s.io"], resources: ["*"], verbs: read },
      { apiGroups: ["flowcontrol.apiserver.k8s.io"], resources: ["*"], verbs: read },
    ],
  } as KubeObject)
  const subjects = [{ kind: "ServiceAccount", namespace, name: account }]
  for (const name of ["wardle", "system:auth-delegator"]) {
    await client.create(clusterRoleBindings, {
      ...rbac("ClusterRoleBinding", { name: `${namespace}:${name}` }),
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects,
    } as KubeObject)
  }
  await client.create(roleBindings, {
    ...rbac("RoleBinding", { name: namespace, namespace: "kube-system" }),
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "extension-apiserver-authentication-reader" },
    subjects,
  } as KubeObject)
}

const roleBindings: Resource = { ...clusterRoleBindings, resource: "rolebindings", namespaced: true }

const rbac = (kind: string, metadata: KubeObject["metadata"]): KubeObject => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind,
  metadata,
})

async function asAccount(client: KubeClient, kubeconfig: string): Promise<string> {
  const request = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: { namespace, name: account },
    spec: {},
  }
  const answer = await client.create(serviceAccounts, request as KubeObject, { subresource: "token" })
  const { token } = (answer as KubeObject & { status: { token: string } }).status
  const config = parse(await readFile(kubeconfig, "utf8")) as { users: { user: unknown }[] }
  for (const each of config.users) each.user = { token }
  return stringify(config)
}

async function register(client: KubeClient, port: number, caBundle: string): Promise<void> {
  await client.create(services, {
    apiVersion: "v1",
    kind: "Service",
    metadata: service,
    spec: { type: "ExternalName", externalName: "localhost", ports: [{ port }] },
  })
  for (const [index, version] of versions.entries()) {
    await client.create(apiServices, {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: `${version}.${group}` },
      spec: {
        group,
        version,
        service: { ...service, port },
        caBundle,
        groupPriorityMinimum: priority,
        versionPriority: 20 - index,
      },
    })
  }
}
