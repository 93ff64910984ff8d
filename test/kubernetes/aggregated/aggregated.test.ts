// A real aggregated API server (wardle.ts) beside a real cluster and beside a tenant: kubectl prints the same, and the server sees the
// same users.

import { rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startControllers } from "../../../controllers/main.ts"
import { startTestGateway } from "../../../gateway/testing/start-gateway.ts"
import { reviewed, WebhookServer } from "../../../gateway/testing/webhook-server.ts"
import { eventually } from "../../harness/eventually.ts"
import { temporaryFolder } from "../../harness/folders.ts"
import { type Answer, call } from "../../harness/https.ts"
import { binaryPath } from "../build/cache.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { type Client, compareSessions, openClient } from "../kubectl/session.ts"
import { script, withoutServer, withServerAgain } from "./script.ts"
import { aggregatingFlags, allowedNetworks, type AuditEvent, type Cluster, group, programs, Wardle } from "./wardle.ts"

const options = { serviceAccounts: true, apiServerFlags: aggregatingFlags }
const objects = fileURLToPath(new URL("objects/", import.meta.url))
const needs = ["kubectl", "kube-controller-manager", ...programs, ...TestKubernetes.binaries(options)]

describe.skipIf(lacks(needs))("an aggregated API server", () => {
  const stack = new AsyncDisposableStack()
  let clients: readonly [Client, Client]
  let servers: readonly Wardle[]
  let places: readonly Place[]

  beforeAll(async () => {
    const folder = await temporaryFolder("polyplane-aggregated")
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const open = async (kubeconfig: string, name: string): Promise<Client> =>
      openClient(binaryPath("kubectl"), kubeconfig, path.join(folder, name), "pond")
    const [kubernetes, tenant] = await Promise.all([TestKubernetes.start(options), startTenant(folder, stack)])
    stack.use(kubernetes)
    const { server, token, client, kubeconfig } = kubernetes
    const get = (where: string): Promise<Answer> => call(server, { path: where, token, headers })
    const post = (where: string, object: object): Promise<Answer> =>
      call(server, { path: where, method: "POST", body: JSON.stringify(object), token })
    places = [{ client, kubeconfig, get, post }, tenant]
    servers = await Promise.all(places.map(async (each) => stack.use(await Wardle.start(each))))
    // It looks for new APIs every 30 s, first when it starts.
    await kubernetes.startControllerManager()
    clients = await Promise.all([open(kubernetes.kubeconfig, "real"), open(tenant.kubeconfig, "tenant")])
  })

  afterAll(() => stack.disposeAsync())

  test("prints the same", async () => {
    expect(await compareSessions("1.36", script, clients, objects)).toBe("")
  })

  test("sees the same users", async () => {
    const [real, ours] = await Promise.all(servers.map(usersOf))
    expect(ours).toEqual(real)
  })

  test("gets the request's id, and its headers reach the client", async () => {
    const paths = ["flunders", "nothing"].map((name) => `/apis/${group}/v1beta1/${name}`)
    const ask = async (place: Place): Promise<unknown> => {
      const answers = await Promise.all([...paths, `/openapi/v3/apis/${group}/v1beta1`].map((each) => place.get(each)))
      return answers.map(({ status, headers }) => ({ status, headers: comparable(headers) }))
    }
    const [real, ours] = await Promise.all(places.map(ask))
    expect(ours).toEqual(real)
    const ids = (await (servers[1] as Wardle).audit()).filter(({ auditID }) => auditID === auditId)
    expect(ids.map(({ requestURI }) => requestURI).sort()).toEqual(
      [...paths, `/openapi/v3/apis/${group}/v1beta1`].sort(),
    )
  })

  test("has the same part of OpenAPI", async () => {
    const ask = async (place: Place): Promise<unknown> => {
      const document = async (of: string) => JSON.parse((await place.get(of)).text) as Document
      const [swagger, index] = await Promise.all([document("/openapi/v2"), document("/openapi/v3")])
      // Known not to have a description.
      delete swagger.definitions?.["io.k8s.apimachinery.pkg.api.resource.Quantity"]
      const own = Object.entries(index.paths).filter(([path]) => path.includes(group))
      return { swagger, paths: Object.keys(index.paths), own }
    }
    const [real, ours] = await Promise.all(places.map(ask))
    expect(ours).toEqual(real)
  })

  test("asks webhooks, which nobody else asks for its objects", async () => {
    const [real, ours] = await Promise.all(places.map(webhookCallsOf))
    expect(ours).toEqual(real)
    expect(real).toHaveLength(2)
  })

  test("is missed in the same words", async () => {
    await Promise.all(servers.map((each) => each.stopServer()))
    await Promise.all(servers.map((each) => each.available(false)))
    expect(await compareSessions("1.36", withoutServer, clients, objects)).toBe("")
    await Promise.all(servers.map((each) => each.startServer()))
    await Promise.all(servers.map((each) => each.available(true)))
    const isGone = async (place: Place): Promise<boolean> => (await place.get("/api/v1/namespaces/pond")).status === 404
    await Promise.all(places.map((place) => eventually(() => isGone(place), { what: "the namespace is gone" })))
    expect(await compareSessions("1.36", withServerAgain, clients, objects)).toBe("")
  })
})

interface Document {
  paths: Record<string, unknown>
  definitions?: Record<string, unknown>
}

interface Place extends Cluster {
  get(path: string): Promise<Answer>
  post(path: string, object: object): Promise<Answer>
}

const auditId = "mine-1"
const headers = { "audit-id": auditId }

async function startTenant(folder: string, stack: AsyncDisposableStack): Promise<Place> {
  const gateway = stack.use(await startTestGateway({ allowedNetworks, http2: true }))
  const { tenants } = gateway.gateway
  const { kubeconfig: text, certificate = "", key = "" } = await gateway.createTenant("a")
  const kubeconfig = path.join(folder, "tenant.kubeconfig")
  await writeFile(kubeconfig, text, { mode: 0o600 })
  stack.use(startControllers(tenants, { rootCertificateAuthority: gateway.gateway.certificateAuthority }))
  const get = (where: string): Promise<Answer> =>
    call(gateway.url, { path: `/tenants/a${where}`, certificate, key, headers })
  const post = (where: string, object: object): Promise<Answer> =>
    call(gateway.url, { path: `/tenants/a${where}`, method: "POST", body: JSON.stringify(object), certificate, key })
  return { client: tenants.client("a"), kubeconfig, get, post }
}

/** Of the creation of one flunder, once the server knows the webhooks. */
async function webhookCallsOf(place: Place): Promise<string[]> {
  await using webhook = await WebhookServer.start((review) => reviewed(review, { allowed: true }))
  const kinds = ["mutating", "validating"]
  const register = async (kind: string): Promise<number> => {
    const rules = [{ apiGroups: [group], apiVersions: ["*"], operations: ["CREATE"], resources: ["flunders"] }]
    const clientConfig = { url: `${webhook.url}/${kind}`, caBundle: webhook.caBundle }
    const how = { sideEffects: "None", admissionReviewVersions: ["v1"], failurePolicy: "Ignore" }
    const webhooks = [{ name: `${kind}.example.com`, clientConfig, rules, ...how }]
    const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`
    return (await place.post(path, { metadata: { name: "flunders" }, webhooks })).status
  }
  expect(await Promise.all(kinds.map(register))).toEqual([201, 201])
  const create = async (): Promise<string[]> => {
    webhook.calls.length = 0
    const path = `/apis/${group}/v1beta1/namespaces/pond/flunders?dryRun=All`
    expect((await place.post(path, { metadata: { name: "admitted" } })).status).toBe(201)
    return webhook.calls.map(({ path: called }) => called.replace(/\?.*/, ""))
  }
  const isKnown = async (): Promise<boolean> => new Set(await create()).size === kinds.length
  await eventually(isKnown, { what: "the server asks the webhooks" })
  return await create() // before the webhooks are gone
}

/** Of requests that kubectl has sent. */
async function usersOf(server: Wardle): Promise<string[]> {
  const all = (await server.audit()).filter(({ userAgent = "" }) => userAgent.startsWith("kubectl"))
  return [...new Set(all.map(seen))].sort()
}

function comparable(all: Answer["headers"]): unknown {
  const { date: _, "last-modified": __, ...found } = all
  const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
  return JSON.parse(JSON.stringify(found).replaceAll(uid, "UID"))
}

function seen({ verb, requestURI, user, impersonatedUser, responseStatus }: AuditEvent): string {
  // Administrators have a token there, a certificate here, whose number is in it.
  const { extra: _, uid: __, ...administrator } = user
  const who = user.username === "admin" ? administrator : user
  const what = requestURI.replace(/continue=\w+/, "continue=TOKEN").replace(/timeoutSeconds=\d+/, "timeoutSeconds=SOME")
  return JSON.stringify({ verb, what, who, impersonatedUser, code: responseStatus?.code })
}
