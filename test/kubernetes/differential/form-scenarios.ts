// Scenarios of the forms of requests and answers, in the order of the report.

import { acceptCases } from "./cases/accepts.ts"
import { appliedDeletionCases } from "./cases/applied-deletions.ts"
import { byteCases } from "./cases/bytes.ts"
import { claimedKindCases } from "./cases/claimed-kinds.ts"
import { customInheritedNameCases } from "./cases/custom-inherited-names.ts"
import { initialManagerCases } from "./cases/initial-managers.ts"
import { memoryCases } from "./cases/memory.ts"
import { lastAppliedCases } from "./cases/last-applied.ts"
import { equivalentVersionCases } from "./cases/equivalent-versions.ts"
import { givenManagerCases } from "./cases/given-managers.ts"
import { givenZeroCases } from "./cases/given-zeros.ts"
import { groupVersionCases } from "./cases/group-versions.ts"
import { faultCases } from "./cases/faults.ts"
import { inheritedNameCases } from "./cases/inherited-names.ts"
import { inheritedNameRequestCases } from "./cases/inherited-names-in-requests.ts"
import { jsonAsYamlCases } from "./cases/json-as-yaml.ts"
import { oddNameCases } from "./cases/odd-names.ts"
import { optionFaultCases } from "./cases/option-faults.ts"
import { otherKindCases } from "./cases/other-kinds.ts"
import { manyFaultCases } from "./cases/many-faults.ts"
import { leftZeroCases } from "./cases/left-zeros.ts"
import { nullMetadataCases } from "./cases/null-metadata.ts"
import { numberLiteralCases } from "./cases/number-literals.ts"
import { objectCases } from "./cases/objects.ts"
import { ownTypeCases } from "./cases/own-types.ts"
import { patchCases } from "./cases/patches.ts"
import { patchedVersionCases } from "./cases/patched-versions.ts"
import { protocolCases } from "./cases/protocol.ts"
import { prunedStructCases } from "./cases/pruned-structs.ts"
import { queryByteCases } from "./cases/query-bytes.ts"
import { reducedListCases } from "./cases/reduced-lists.ts"
import { repeatedDeletionCases } from "./cases/repeated-deletions.ts"
import { requestCases } from "./cases/requests.ts"
import { servedVersionCases } from "./cases/served-versions.ts"
import { strictPatchCases } from "./cases/strict-patches.ts"
import { strictTextCases } from "./cases/strict-texts.ts"
import { sourceAndExpressionCases } from "./cases/sources-and-expressions.ts"
import { tableCases } from "./cases/tables.ts"
import { podTableCases } from "./cases/pod-tables.ts"
import { unservedVersionCases } from "./cases/unserved-versions.ts"
import { yamlCases } from "./cases/yaml.ts"
import type { Scenario } from "./scenario.ts"

export function formScenarios(): Scenario[] {
  return [
    ...protocolCases(),
    ...acceptCases(),
    ...reducedListCases(),
    ...requestCases(),
    ...queryByteCases(),
    ...optionFaultCases(),
    ...claimedKindCases(),
    ...repeatedDeletionCases(),
    ...appliedDeletionCases(),
    ...yamlCases(),
    ...jsonAsYamlCases(),
    ...patchCases(),
    ...patchedVersionCases(),
    ...nullMetadataCases(),
    ...manyFaultCases(),
    ...numberLiteralCases(),
    ...objectCases(),
    ...byteCases(),
    ...strictPatchCases(),
    ...strictTextCases(),
    ...memoryCases(),
    ...tableCases(),
    ...podTableCases(),
    ...sourceAndExpressionCases(),
    ...ownTypeCases(),
    ...otherKindCases(),
    ...faultCases(),
    ...servedVersionCases(),
    ...equivalentVersionCases(),
    ...givenZeroCases(),
    ...leftZeroCases(),
    ...initialManagerCases(),
    ...givenManagerCases(),
    ...prunedStructCases(),
    ...lastAppliedCases(),
    ...unservedVersionCases(),
    ...groupVersionCases(),
    ...oddNameCases(),
    ...inheritedNameCases(),
    ...inheritedNameRequestCases(),
    ...customInheritedNameCases(),
  ]
}
