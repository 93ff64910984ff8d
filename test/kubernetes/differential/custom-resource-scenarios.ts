// Scenarios of definitions and of custom resources, in the order of the report.

import { apiServiceCases } from "./cases/api-services.ts"
import { customColumnCases } from "./cases/custom-columns.ts"
import { customDetailCases } from "./cases/custom-details.ts"
import { customEmbeddedDefaultCases } from "./cases/custom-embedded-defaults.ts"
import { customEmbeddedCases } from "./cases/custom-embedded.ts"
import { customEndCases } from "./cases/custom-ends.ts"
import { customFormCases } from "./cases/custom-forms.ts"
import { customFormatTextCases } from "./cases/custom-format-texts.ts"
import { customFormatCases } from "./cases/custom-formats.ts"
import { customListCases } from "./cases/custom-lists.ts"
import { customManagerCases } from "./cases/custom-managers.ts"
import { customNumberCases } from "./cases/custom-numbers.ts"
import { customOlderObjectCases } from "./cases/custom-older-objects.ts"
import { customOptionalRuleCases } from "./cases/custom-optional-rules.ts"
import { customOtherVersionCases } from "./cases/custom-other-versions.ts"
import { customRatchetingCases } from "./cases/custom-ratcheting.ts"
import { customResourceCases } from "./cases/custom-resources.ts"
import { customLongIntegerCases } from "./cases/custom-long-integers.ts"
import { customRuleCostCases } from "./cases/custom-rule-costs.ts"
import { customRuleCases } from "./cases/custom-rules.ts"
import { customScaleCases } from "./cases/custom-scale.ts"
import { customScaleManagerCases } from "./cases/custom-scale-managers.ts"
import { customListRuleCases } from "./cases/custom-list-rules.ts"
import { customSeldomRuleCases } from "./cases/custom-seldom-rules.ts"
import { customStatusCases } from "./cases/custom-statuses.ts"
import { customTypeCases } from "./cases/custom-types.ts"
import { customUnchangedFaultCases } from "./cases/custom-unchanged-faults.ts"
import { customUnknownFieldCases } from "./cases/custom-unknown-fields.ts"
import { customVersionCases } from "./cases/custom-versions.ts"
import { customValueCases } from "./cases/custom-values.ts"
import { customWholeFractionCases } from "./cases/custom-whole-fractions.ts"
import { definitionDetailCases } from "./cases/definition-details.ts"
import { definitionOrderCases } from "./cases/definition-orders.ts"
import { definitionPathCases } from "./cases/definition-paths.ts"
import { definitionRootCases } from "./cases/definition-roots.ts"
import { definitionFaultCases } from "./cases/definition-faults.ts"
import { definitionFreeRootCases } from "./cases/definition-free-roots.ts"
import { definitionLifeCases } from "./cases/definition-lives.ts"
import { definitionNameRoleCases } from "./cases/definition-name-roles.ts"
import { definitionNullCases } from "./cases/definition-nulls.ts"
import { definitionRuleCases } from "./cases/definition-rules.ts"
import { definitionStatusCases } from "./cases/definition-statuses.ts"
import { definitionWatchCases } from "./cases/definition-watches.ts"
import { builtInGroupDefinitionCases } from "./cases/definitions-in-built-in-groups.ts"
import { definitionCases } from "./cases/definitions.ts"
import { ruleSyntaxCases } from "./cases/rule-syntax.ts"
import type { Scenario } from "./scenario.ts"

export function customResourceScenarios(): Scenario[] {
  return [
    ...customResourceCases(),
    ...customLongIntegerCases(),
    ...customValueCases(),
    ...customListCases(),
    ...customStatusCases(),
    ...customScaleCases(),
    ...customScaleManagerCases(),
    ...customVersionCases(),
    ...customRatchetingCases(),
    ...customRuleCases(),
    ...customListRuleCases(),
    ...customSeldomRuleCases(),
    ...customRuleCostCases(),
    ...customColumnCases(),
    ...customEmbeddedDefaultCases(),
    ...customEmbeddedCases(),
    ...customFormCases(),
    ...customFormatCases(),
    ...customFormatTextCases(),
    ...customNumberCases(),
    ...customWholeFractionCases(),
    ...customTypeCases(),
    ...customUnknownFieldCases(),
    ...customManagerCases(),
    ...customDetailCases(),
    ...customOlderObjectCases(),
    ...customOptionalRuleCases(),
    ...customOtherVersionCases(),
    ...customUnchangedFaultCases(),
    ...customEndCases(),
    ...definitionNullCases(),
    ...definitionCases(),
    ...definitionFaultCases(),
    ...definitionDetailCases(),
    ...definitionRootCases(),
    ...definitionOrderCases(),
    ...definitionPathCases(),
    ...definitionStatusCases(),
    ...definitionLifeCases(),
    ...definitionNameRoleCases(),
    ...definitionFreeRootCases(),
    ...definitionRuleCases(),
    ...ruleSyntaxCases(),
    ...definitionWatchCases(),
    ...builtInGroupDefinitionCases(),
    ...apiServiceCases(),
  ]
}
