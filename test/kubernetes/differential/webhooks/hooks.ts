// One of the two servers with webhooks: registers those of a scenario, waits until they are called, and collects their calls.

import type { Loose } from "../../../../gateway/testing/kinds.ts"
import {
  reviewed,
  type WebhookCall,
  type WebhookReply,
  WebhookServer,
} from "../../../../gateway/testing/webhook-server.ts"
import { eventually } from "../../../harness/eventually.ts"
import type { Audits } from "../audits.ts"
import { compareTranscripts, type Difference } from "../compare.ts"
import type { Connection } from "../connection.ts"
import { nextPlace } from "../differential.ts"
import { normalize } from "../normalize.ts"
import { type Entry, type Place, runSteps, type Transcript } from "../run.ts"
import { allow, type RegisteredHook, rule, type WebhookScenario } from "./scenario.ts"

const registrations = "/apis/admissionregistration.k8s.io/v1"
const headers = { "content-type": "application/json" }

/** The annotations of a request that admission wrote. Patches are only in a log that contains bodies. */
const ownAnnotation = /^(?!patch\.)([^/]*\.)?(webhook\.admission\.k8s\.io|example\.com|pod-security\.kubernetes\.io)\//

export class HookedServer implements AsyncDisposable {
  readonly #connection: Connection
  readonly #audits: Audits
  readonly #server: WebhookServer
  #hooks: readonly RegisteredHook[] = []

  private constructor(connection: Connection, audits: Audits, server: WebhookServer) {
    this.#connection = connection
    this.#audits = audits
    this.#server = server
  }

  static async start(connection: Connection, audits: Audits): Promise<HookedServer> {
    const server = await WebhookServer.start((call) => hooked.#reply(call))
    const hooked: HookedServer = new HookedServer(connection, audits, server)
    return hooked
  }

  async run(scenario: WebhookScenario, place: Place): Promise<Transcript> {
    const paths: string[] = []
    try {
      const running = await runSteps(this.#connection, scenario, place, {
        before: () => this.#register(scenario.hooks, place, paths),
        after: async (entry) => {
          const told = await this.#told(entry)
          await this.#hasCaughtUp(entry, place)
          return told
        },
      })
      running.close()
      return running.transcript
    } finally {
      for (const path of paths) await this.#connection.call("DELETE", path)
    }
  }

  /** Adds the paths of the configurations to `paths`. */
  async #register(hooks: readonly RegisteredHook[], place: Place, paths: string[]): Promise<void> {
    this.#hooks = hooks
    const indexed = hooks.map((hook, index) => ({ ...hook, index }))
    const groups = Map.groupBy(
      indexed,
      ({ kind = "Validating", configuration = "a" }) => `${kind.toLowerCase()}webhookconfigurations/${configuration}`,
    )
    for (const [group, members] of groups) {
      const [resource = "", given = ""] = group.split("/")
      const name = `${given}-${place.id}-${resource[0]}`
      const webhooks = [...members.map((member) => this.#webhook(member, place)), this.#sentinel(name)]
      const body = JSON.stringify({ metadata: { name }, webhooks })
      const { code, body: text } = await this.#connection.call("POST", `${registrations}/${resource}`, {
        headers,
        body,
      })
      if (code !== 201) throw new Error(`${this.#connection.name}: ${code} ${text.toString()}`)
      paths.push(`${registrations}/${resource}/${name}`)
      await this.#isCalled(name)
    }
    this.#server.calls.length = 0
  }

  #webhook({ webhook = {}, index }: RegisteredHook & { index: number }, { namespace, id }: Place): Loose {
    const whole = {
      name: `hook-${index}.example.com`,
      clientConfig: { url: "@{url}", caBundle: "@{ca}" },
      rules: [rule("*/*", { scope: "Namespaced" })],
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      ...webhook,
    }
    const text = JSON.stringify(whole)
      .replaceAll("@{ns}", namespace)
      .replaceAll("@{id}", id)
      .replaceAll("@{url}", `${this.#server.url}/${index}`)
      .replaceAll("@{localhost}", `https://localhost:${this.#server.port}/${index}`)
      .replaceAll("@{ca}", this.#server.caBundle)
    return JSON.parse(text) as Loose
  }

  /** Denies what carries the name of its configuration, which shows that the configuration is in effect. */
  #sentinel(configuration: string): Loose {
    return {
      name: "sentinel.example.com",
      clientConfig: { url: `${this.#server.url}/sentinel/${configuration}`, caBundle: this.#server.caBundle },
      rules: [rule("configmaps")],
      objectSelector: { matchLabels: { configuration } },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    }
  }

  async #isCalled(configuration: string): Promise<void> {
    const body = JSON.stringify({ metadata: { name: "sentinel", labels: { configuration } } })
    const path = "/api/v1/namespaces/default/configmaps?dryRun=All"
    await eventually(async () => {
      const { body: text } = await this.#connection.call("POST", path, { headers, body })
      return text.includes(`${configuration} is in effect`)
    })
  }

  #reply(call: WebhookCall): WebhookReply | Promise<WebhookReply> {
    const configuration = /^\/sentinel\/([^?]*)/.exec(call.path)?.[1]
    if (configuration === undefined) return (this.#hooks[indexOf(call.path)]?.reply ?? allow)(call)
    return reviewed(call, { allowed: false, status: { message: `${configuration} is in effect` } })
  }

  /**
   * A write that upstream tries with an object of its watch cache, which may be late, is tried once more with the stored one, and the
   * webhooks are called each time. A list waits until the cache has all that is stored.
   */
  async #hasCaughtUp({ step }: Entry, { namespace, id }: Place): Promise<void> {
    const path = ("watch" in step ? step.watch : step.path).replaceAll("@{ns}", namespace).replaceAll("@{id}", id)
    const [collection] = collectionOf.exec(path) ?? []
    if (collection !== undefined) await this.#connection.call("GET", collection)
  }

  /** What the webhooks were sent during the step, and what the audit log says of it. */
  async #told({ step, title, headers: responded }: Entry): Promise<Entry[]> {
    const calls = this.#inOrder(this.#server.calls.splice(0)).filter(isFirst)
    const told = (what: string, value: unknown): Entry => ({
      step,
      title: `${title}: ${what}`,
      code: 200,
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify(value)),
    })
    const id = String(responded["audit-id"] ?? "")
    const annotations = id === "" ? {} : ((await this.#audits.of(this.#connection.name, id)) ?? {})
    const own = Object.entries(annotations).filter(([key]) => ownAnnotation.test(key))
    return [told("calls", calls.map(shown)), told("annotations", Object.fromEntries(own))]
  }

  /** Validating webhooks are called at the same time, after the mutating ones. */
  #inOrder(calls: readonly WebhookCall[]): WebhookCall[] {
    const rank = ({ path }: WebhookCall): number => {
      const index = indexOf(path)
      return this.#hooks[index]?.kind === "Mutating" ? -1 : index
    }
    return calls.toSorted((a, b) => rank(a) - rank(b))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]()
  }
}

/** What differs on the two servers. */
export async function compareHooked(hooked: readonly HookedServer[], scenario: WebhookScenario): Promise<Difference[]> {
  const place = nextPlace()
  const [theirs, ours] = normalize(await Promise.all(hooked.map((server) => server.run(scenario, place))))
  return compareTranscripts({ ...scenario, anyOrder: true }, theirs ?? [], ours ?? [])
}

/**
 * Whether it says something new: a deletion that upstream marks first and then carries out is reviewed with the marked object, and before
 * that once more with the one from before, if its watch cache is late.
 */
function isFirst(call: WebhookCall, index: number, calls: readonly WebhookCall[]): boolean {
  const text = told(call)
  return text === undefined || calls.findIndex((other) => told(other) === text) === index
}

function told({ path, body }: WebhookCall): string | undefined {
  const { request } = body as { request?: { operation?: string } }
  return request?.operation === "DELETE" ? JSON.stringify([path, { ...request, uid: undefined }]) : undefined
}

const collectionOf = /^\/(api\/v1|apis\/[^/]+\/[^/]+)(\/namespaces\/[^/]+)?\/[^/?]+/

const indexOf = (path: string): number => Number(/^\/(\d+)/.exec(path)?.[1])

/** Headers of the connection, and those that follow from the address or the body. */
const ownHeaders: ReadonlySet<string> = new Set(["host", "content-length", "connection"])

function shown({ path, headers: sent, body }: WebhookCall): unknown {
  return { path, headers: Object.fromEntries(Object.entries(sent).filter(([name]) => !ownHeaders.has(name))), body }
}
