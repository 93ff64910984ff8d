// Validates spec.conversion of a CustomResourceDefinition. Errors use the field names of v1beta1, like upstream's. Source:
// k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation.

import {
  type FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  notSupportedText,
  required,
} from "../../../apimachinery/field-errors.ts"
import type { WebhookClientConfig } from "../../backends/webhook-client.ts"
import { authoritiesFault } from "../../pki/authorities.ts"
import { validateReviewVersions, validateWebhookClient } from "../../registry/validation/webhook-client.ts"
import { type CustomResourceConversion, type Definition, isEstablished } from "../types.ts"

const strategies = ["None", "Webhook"]

/** The error in the CA bundle of the conversion webhook, which makes the webhook untrusted. */
export function trustFault(conversion: CustomResourceConversion | undefined): string | undefined {
  return authoritiesFault(Buffer.from(conversion?.webhook?.clientConfig?.caBundle ?? "", "base64").toString("latin1"))
}

/** `current`: the definition before the update. */
export function validateConversion(
  at: FieldPath,
  conversion: CustomResourceConversion | undefined,
  current: Definition | undefined,
): FieldError[] {
  if (conversion === undefined) return []
  const { strategy = "", webhook } = conversion
  const errors: FieldError[] = []
  if (strategy === "") errors.push(required(at.child("strategy")))
  else if (!strategies.includes(strategy)) errors.push(notSupportedText(at.child("strategy"), strategy, strategies))
  const client = at.child("webhookClientConfig")
  const versions = at.child("conversionReviewVersions")
  if (strategy !== "Webhook") {
    const detail = "should not be set when strategy is not set to Webhook"
    return [
      ...errors,
      ...(webhook?.clientConfig === undefined ? [] : [forbiddenField(client, detail)]),
      ...((webhook?.conversionReviewVersions ?? []).length === 0 ? [] : [forbiddenField(versions, detail)]),
    ]
  }
  const config = webhook?.clientConfig
  return [
    ...(config === undefined
      ? [required(client, "required when strategy is set to Webhook")]
      : [
          ...validateWebhookClient(client, withNamesSwapped(config)),
          ...validateTrust(client.child("caBundle"), conversion, current),
        ]),
    ...validateReviewVersions(versions, webhook?.conversionReviewVersions ?? []),
  ]
}

/** Definitions that are not served yet may add a valid bundle later, and previously invalid bundles may stay. */
function validateTrust(
  at: FieldPath,
  conversion: CustomResourceConversion,
  current: Definition | undefined,
): FieldError[] {
  if (current === undefined || !isEstablished(current) || trustFault(current.spec?.conversion) !== undefined) return []
  const fault = trustFault(conversion)
  return fault === undefined ? [] : [invalidValue(at, conversion.webhook?.clientConfig?.caBundle, fault)]
}

/** Upstream confuses the service's name and namespace: if one is missing, it reports the other. */
function withNamesSwapped(config: WebhookClientConfig): WebhookClientConfig {
  const { service } = config
  if (service === undefined || service === null) return config
  const { name, namespace, ...rest } = service
  return {
    ...config,
    service: {
      ...rest,
      ...(namespace === undefined ? {} : { name: namespace }),
      ...(name === undefined ? {} : { namespace: name }),
    },
  }
}
