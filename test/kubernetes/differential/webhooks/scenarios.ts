// All scenarios with webhooks.

import { answerScenarios } from "./answers.ts"
import { auditedScenarios } from "./audited.ts"
import { conditionScenarios } from "./conditions.ts"
import { failureScenarios } from "./failures.ts"
import { identityScenarios } from "./identities.ts"
import { versionMatchingScenarios } from "./matching-versions.ts"
import { matchingScenarios } from "./matching.ts"
import { patchScenarios } from "./patches.ts"
import { requestScenarios } from "./requests.ts"
import { sequenceScenarios } from "./sequences.ts"
import { serviceScenarios } from "./services.ts"
import { subresourceRequestScenarios } from "./subresource-requests.ts"
import type { WebhookScenario } from "./scenario.ts"

export function webhookScenarios(): WebhookScenario[] {
  return [
    ...requestScenarios(),
    ...subresourceRequestScenarios(),
    ...matchingScenarios(),
    ...versionMatchingScenarios(),
    ...conditionScenarios(),
    ...answerScenarios(),
    ...failureScenarios(),
    ...patchScenarios(),
    ...identityScenarios(),
    ...sequenceScenarios(),
    ...serviceScenarios(),
    ...auditedScenarios(),
  ]
}
