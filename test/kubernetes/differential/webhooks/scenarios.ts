// All scenarios with webhooks.

import type { Webhook } from "../conversions/kind.ts"
import { answerScenarios } from "./answers.ts"
import { auditedScenarios } from "./audited.ts"
import { conditionScenarios } from "./conditions.ts"
import { convertedScenarios } from "./converted-kinds.ts"
import { failureScenarios } from "./failures.ts"
import { identityScenarios } from "./identities.ts"
import { versionMatchingScenarios } from "./matching-versions.ts"
import { matchingScenarios } from "./matching.ts"
import { patchScenarios } from "./patches.ts"
import { randomFormHookScenario } from "./random-forms.ts"
import { randomKindHookScenario } from "./random-kinds.ts"
import { randomPluginScenario } from "./random-plugins.ts"
import { randomWebhookScenario } from "./random.ts"
import { requestScenarios } from "./requests.ts"
import { sequenceScenarios } from "./sequences.ts"
import { serviceScenarios } from "./services.ts"
import { subresourceRequestScenarios } from "./subresource-requests.ts"
import type { WebhookScenario } from "./scenario.ts"

/** Of random scenarios. */
const seeds = [1, 2, 3]

/** Events and autoscalers of both versions, and each subresource: scales, bindings, evictions, tokens and approvals. */
const formSeeds = [7, 9, 12, 15, 24, 30, 42, 43, 44, 46, 101, 109]

/** `conversion`: the webhook that converts custom resources. */
export function webhookScenarios(conversion: Webhook): WebhookScenario[] {
  return [
    ...requestScenarios(),
    ...subresourceRequestScenarios(),
    ...matchingScenarios(),
    ...versionMatchingScenarios(),
    ...convertedScenarios(conversion),
    ...conditionScenarios(),
    ...answerScenarios(),
    ...failureScenarios(),
    ...patchScenarios(),
    ...identityScenarios(),
    ...sequenceScenarios(),
    ...serviceScenarios(),
    ...auditedScenarios(),
    ...seeds.flatMap((seed) => [
      randomWebhookScenario(conversion, seed),
      randomPluginScenario(seed),
      randomKindHookScenario(seed),
    ]),
    ...formSeeds.map(randomFormHookScenario),
  ]
}
