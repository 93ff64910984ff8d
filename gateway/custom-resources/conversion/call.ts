// How a control plane calls its conversion webhooks.

import type { Backends } from "../../backends/backends.ts"
import { callWebhook } from "../../backends/webhook-client.ts"
import type { CallConversionWebhook } from "./webhook.ts"

/** A read waits this long for its objects to be converted. */
const timeoutMs = 30_000

/** `backends`: asked for at each call, since definitions are read before the control plane is complete. */
export function conversionCalls(backends: () => Backends): CallConversionWebhook {
  return (config, review) => callWebhook(backends(), config, review, timeoutMs, new AbortController().signal)
}
