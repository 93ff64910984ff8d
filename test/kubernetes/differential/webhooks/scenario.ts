// Scenarios with admission webhooks: like other scenarios, but both servers have these webhooks registered while the steps run, and
// what the webhooks were sent is compared as well.

import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { reviewed, type WebhookHandler } from "../../../../gateway/testing/webhook-server.ts"
import type { Scenario } from "../scenario.ts"

export const space = "/api/v1/namespaces/@{ns}"
export const maps = `${space}/configmaps`
export const pods = `${space}/pods`

export interface WebhookScenario extends Scenario {
  hooks: readonly RegisteredHook[]
}

export interface RegisteredHook {
  /** Default: Validating. */
  kind?: "Mutating" | "Validating"
  /** Which of several configurations of this kind contains it. */
  configuration?: string
  /** Its fields, in addition to those that every webhook has; like a step, with `@{ns}`, `@{id}`, and its `@{url}`, `@{localhost}` and `@{ca}`. */
  webhook?: Loose
  /** Default: allowed. */
  reply?: WebhookHandler
}

export const rule = (resources: string | readonly string[], more: Loose = {}): Loose => ({
  operations: ["*"],
  apiGroups: ["*"],
  apiVersions: ["*"],
  resources: [resources].flat(),
  ...more,
})

export const allow: WebhookHandler = (call) => reviewed(call, {})

/** Answers with this response, besides its uid. */
export const answer =
  (response: Loose): WebhookHandler =>
  (call) =>
    reviewed(call, response)

export const deny = (status?: Loose): WebhookHandler =>
  answer({ allowed: false, ...(status === undefined ? {} : { status }) })

/** Answers with this text as the patch. */
export const patchText = (text: string): WebhookHandler =>
  answer({ patchType: "JSONPatch", patch: Buffer.from(text).toString("base64") })
