// Webhook configurations. They are applied in gateway/admission/webhooks.

import { expressionsSizeErrors } from "../../../../apimachinery/cel/expressions-size.ts"
import { FieldPath } from "../../../../apimachinery/field-errors.ts"
import { hasGivenEmpty, isGivenEmpty, isGivenEmptyBytes } from "../../../../apimachinery/schema/decode/given.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { semanticEqual } from "../../validation/equality.ts"
import type { Webhook, WebhookConfiguration } from "../../../admission/webhooks/configuration.ts"
import { reservedNameWarnings } from "../reserved-names.ts"
import { validatingWebhooks } from "./validate.ts"

function strategyOf(mutating: boolean): Strategy<WebhookConfiguration> {
  return {
    generation: true,
    allowUnconditionalUpdate: false,
    default(configuration) {
      for (const webhook of configuration.webhooks ?? []) defaultWebhook(webhook, mutating)
    },
    validateFirst: (_ctx, configuration, current) =>
      expressionsSizeErrors(FieldPath.root("webhooks"), configuration.webhooks, current?.webhooks),
    compiles: true,
    validating: (_ctx, configuration) => validatingWebhooks(configuration.webhooks ?? [], mutating),
    validatingUpdate: (_ctx, configuration) => validatingWebhooks(configuration.webhooks ?? [], mutating),
    warnings: (_ctx, configuration) => reservedNameWarnings(configuration),
    // Upstream compares the objects in memory, where an empty list differs from a missing one, and so do bytes, which are stored as they are.
    specChanged: (configuration, current) =>
      isGivenEmpty(configuration, "webhooks") ||
      hasGivenEmpty(configuration.webhooks) ||
      !semanticEqual(configuration.webhooks, current.webhooks) ||
      !haveSameTrust(configuration.webhooks, current.webhooks),
  }
}

export const mutatingWebhookConfigurations: KindExtension = { strategy: strategyOf(true) }
export const validatingWebhookConfigurations: KindExtension = { strategy: strategyOf(false) }

/** Of as many webhooks. */
function haveSameTrust(webhooks: readonly Webhook[] = [], others: readonly Webhook[] = []): boolean {
  const isEmpty = (webhook: Webhook | undefined): boolean => isGivenEmptyBytes(webhook?.clientConfig ?? {}, "caBundle")
  return webhooks.every((webhook, index) => isEmpty(webhook) === isEmpty(others[index]))
}

function defaultWebhook(webhook: Webhook, mutating: boolean): void {
  webhook.failurePolicy ??= "Fail"
  webhook.matchPolicy ??= "Equivalent"
  webhook.namespaceSelector ??= {}
  webhook.objectSelector ??= {}
  webhook.timeoutSeconds ??= 10
  if (mutating) webhook.reinvocationPolicy ??= "Never"
  for (const rule of webhook.rules ?? []) rule.scope ??= "*"
  const service = webhook.clientConfig?.service
  if (service) service.port ??= 443
}
