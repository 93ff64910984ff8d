// Calls the conversion webhooks of a control plane.

import type { Backends } from "../../backends/backends.ts"
import { callWebhook } from "../../backends/webhook-client.ts"
import type { CallConversionWebhook } from "./webhook.ts"

/** How long a read waits for the conversion of its objects. */
const timeoutMs = 30_000

/** `backends`: called for each call, since definitions are read before the control plane is complete. */
export function conversionCalls(backends: () => Backends): CallConversionWebhook {
  return (config, review) => callWebhook(backends(), config, review, timeoutMs, new AbortController().signal)
}
