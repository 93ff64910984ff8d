// Webhook configurations, and their webhooks in the order of calls: configurations by name, webhooks in the order of the
// configuration. Source: k8s.io/apiserver/pkg/admission/configuration.

import { type LabelSelector, type Selector, selectorFromLabelSelector } from "../../../apimachinery/labels.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import type { WebhookClientConfig } from "../../backends/webhook-client.ts"

export interface WebhookRule {
  operations?: string[]
  apiGroups?: string[]
  apiVersions?: string[]
  resources?: string[]
  scope?: string
}

export interface MatchCondition {
  name: string
  expression: string
}

export interface Webhook {
  name: string
  clientConfig: WebhookClientConfig
  rules?: WebhookRule[]
  failurePolicy?: string
  matchPolicy?: string
  namespaceSelector?: LabelSelector
  objectSelector?: LabelSelector
  sideEffects?: string
  timeoutSeconds?: number
  admissionReviewVersions?: string[]
  /** Only for mutating webhooks. */
  reinvocationPolicy?: string
  matchConditions?: MatchCondition[]
}

export type WebhookConfiguration = KubeObject & { webhooks?: Webhook[] }

export interface Hook {
  /** Unique among all hooks of its kind. */
  id: string
  configuration: string
  webhook: Webhook
  namespaceSelector: Selector
  objectSelector: Selector
}

const made = new WeakMap<readonly WebhookConfiguration[], readonly Hook[]>()

/** Created once for each state of the configurations. */
export function hooksOf(configurations: readonly WebhookConfiguration[]): readonly Hook[] {
  let hooks = made.get(configurations)
  if (hooks === undefined) {
    hooks = configurations.flatMap(({ metadata, webhooks }) =>
      (webhooks ?? []).map((webhook, index) => ({
        id: `${metadata.name}/${webhook.name}/${index}`,
        configuration: metadata.name ?? "",
        webhook,
        namespaceSelector: selectorFromLabelSelector(webhook.namespaceSelector ?? {}),
        objectSelector: selectorFromLabelSelector(webhook.objectSelector ?? {}),
      })),
    )
    made.set(configurations, hooks)
  }
  return hooks
}
