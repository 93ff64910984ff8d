// Custom resources with several versions, between which a webhook converts.

import type { Scenario } from "../scenario.ts"
import type { Webhook } from "./kind.ts"
import { life, retired, storageChange, unchanged } from "./lives.ts"
import { seenByPolicies } from "./policies.ts"
import { asked, configurations, failing, odd } from "./reviews.ts"
import { managers, reads, selected, subresources } from "./views.ts"
import { objectModes, responseModes } from "./webhook.ts"

export function conversionCases(webhook: Webhook): Scenario[] {
  const cases = [
    { name: "a converted resource lives in every version", steps: life(webhook) },
    { name: "conversion reviews are as upstream's", steps: asked(webhook) },
    { name: "conversions return odd objects", steps: odd(webhook, objectModes) },
    { name: "conversions return odd responses", steps: odd(webhook, responseModes) },
    { name: "conversions return odd responses in v1beta1", steps: odd(webhook, responseModes, "v1beta1") },
    { name: "a conversion in a list fails", steps: failing(webhook) },
    { name: "a converted resource is not changed by updates that store the same", steps: unchanged(webhook) },
    { name: "a converted resource is stored in another version", steps: storageChange(webhook) },
    { name: "managers of a converted resource write in several versions", steps: managers(webhook) },
    { name: "a converted resource is read in lists and watches", steps: reads(webhook) },
    { name: "versions of a converted resource are deprecated or not served", steps: retired(webhook) },
    { name: "a converted resource has subresources", steps: subresources(webhook) },
    { name: "a conversion webhook is configured in other ways", steps: configurations(webhook) },
    { name: "a converted resource is selected by fields", steps: selected(webhook) },
    { name: "policies see objects that a webhook converts, or does not", steps: seenByPolicies(webhook) },
  ]
  return cases.map((scenario) => ({ ...scenario, anyOrder: true }))
}
