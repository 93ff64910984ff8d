// All scenarios, in the order of the report.

import { acceptCases } from "./cases/accepts.ts"
import { accessCases } from "./cases/access.ts"
import { admittedReviewCases } from "./cases/admitted-reviews.ts"
import { addressCases } from "./cases/addresses.ts"
import { apiServiceCases } from "./cases/api-services.ts"
import { appliedDeletionCases } from "./cases/applied-deletions.ts"
import { badMetadataCases } from "./cases/bad-metadata.ts"
import { bookmarkCases } from "./cases/bookmarks.ts"
import { byteCases } from "./cases/bytes.ts"
import { claimedKindCases } from "./cases/claimed-kinds.ts"
import { claimAndVolumeCases } from "./cases/claims-and-volumes.ts"
import { certificateRequestCases } from "./cases/certificate-requests.ts"
import { classRuleCases } from "./cases/class-rules.ts"
import { componentCases } from "./cases/components.ts"
import { creatingUpdateCases } from "./cases/creating-updates.ts"
import { continueTokenCases } from "./cases/continue-tokens.ts"
import { countRuleCases } from "./cases/count-rules.ts"
import { cronScheduleCases } from "./cases/cron-schedules.ts"
import { customColumnCases } from "./cases/custom-columns.ts"
import { customDetailCases } from "./cases/custom-details.ts"
import { customEmbeddedDefaultCases } from "./cases/custom-embedded-defaults.ts"
import { customEmbeddedCases } from "./cases/custom-embedded.ts"
import { customEndCases } from "./cases/custom-ends.ts"
import { customFormCases } from "./cases/custom-forms.ts"
import { customInheritedNameCases } from "./cases/custom-inherited-names.ts"
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
import { customRuleCostCases } from "./cases/custom-rule-costs.ts"
import { customRuleCases } from "./cases/custom-rules.ts"
import { customScaleCases } from "./cases/custom-scale.ts"
import { customListRuleCases } from "./cases/custom-list-rules.ts"
import { customSeldomRuleCases } from "./cases/custom-seldom-rules.ts"
import { customStatusCases } from "./cases/custom-statuses.ts"
import { customTypeCases } from "./cases/custom-types.ts"
import { customUnchangedFaultCases } from "./cases/custom-unchanged-faults.ts"
import { customUnknownFieldCases } from "./cases/custom-unknown-fields.ts"
import { customVersionCases } from "./cases/custom-versions.ts"
import { customValueCases } from "./cases/custom-values.ts"
import { customWholeFractionCases } from "./cases/custom-whole-fractions.ts"
import { defaultClassCases } from "./cases/default-classes.ts"
import { customDocumentEdgeCases } from "./cases/custom-document-edges.ts"
import { customDocumentCases } from "./cases/custom-documents.ts"
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
import { deletionOptionCases } from "./cases/deletion-options.ts"
import { deviceRuleCases } from "./cases/device-rules.ts"
import { discoveryCases } from "./cases/discovery.ts"
import { edgeCases } from "./cases/edges.ts"
import { initialManagerCases } from "./cases/initial-managers.ts"
import { statusMetadataCases } from "./cases/status-metadata.ts"
import { strategicMergeCases } from "./cases/strategic-merges.ts"
import { memoryCases } from "./cases/memory.ts"
import { lastAppliedCases } from "./cases/last-applied.ts"
import { lastAnswerCases } from "./cases/last-answers.ts"
import { lateDefaultCases } from "./cases/late-defaults.ts"
import { lastFinalizerCases } from "./cases/last-finalizers.ts"
import { emptyByteCases } from "./cases/empty-bytes.ts"
import { emptyEntryCases } from "./cases/empty-entries.ts"
import { emptySegmentCases } from "./cases/empty-segments.ts"
import { endedDecodingCases } from "./cases/ended-decoding.ts"
import { emptyStructCases } from "./cases/empty-structs.ts"
import { equivalentVersionCases } from "./cases/equivalent-versions.ts"
import { evictionCases } from "./cases/evictions.ts"
import { givenManagerCases } from "./cases/given-managers.ts"
import { givenZeroCases } from "./cases/given-zeros.ts"
import { grantCases } from "./cases/grants.ts"
import { groupVersionCases } from "./cases/group-versions.ts"
import { faultCases } from "./cases/faults.ts"
import { impersonationCases } from "./cases/impersonation.ts"
import { inheritedNameCases } from "./cases/inherited-names.ts"
import { jsonAsYamlCases } from "./cases/json-as-yaml.ts"
import { jobRuleCases } from "./cases/job-rules.ts"
import { keyTextCases } from "./cases/key-texts.ts"
import { oddNameCases } from "./cases/odd-names.ts"
import { oddWriteCases } from "./cases/odd-writes.ts"
import { optionFaultCases } from "./cases/option-faults.ts"
import { olderAutoscalerCases } from "./cases/older-autoscalers.ts"
import { olderRuleCases } from "./cases/older-rules.ts"
import { otherKindCases } from "./cases/other-kinds.ts"
import { openAPICases } from "./cases/openapi.ts"
import { manyFaultCases } from "./cases/many-faults.ts"
import { labelKeyCases } from "./cases/label-keys.ts"
import { leftZeroCases } from "./cases/left-zeros.ts"
import { listCases } from "./cases/lists.ts"
import { nullMetadataCases } from "./cases/null-metadata.ts"
import { nodeReadCases } from "./cases/node-reads.ts"
import { nodeWriteCases } from "./cases/node-writes.ts"
import { numberLiteralCases } from "./cases/number-literals.ts"
import { objectCases } from "./cases/objects.ts"
import { ownRuleCases } from "./cases/own-rules.ts"
import { ownTypeCases } from "./cases/own-types.ts"
import { patchCases } from "./cases/patches.ts"
import { patchedVersionCases } from "./cases/patched-versions.ts"
import { pathCases } from "./cases/paths.ts"
import { policyCostCases } from "./cases/policy-costs.ts"
import { policyEvaluationCases } from "./cases/policy-evaluations.ts"
import { policyParamCases } from "./cases/policy-params.ts"
import { policyResultCases } from "./cases/policy-results.ts"
import { policyTextCases } from "./cases/policy-texts.ts"
import { policyValueCases } from "./cases/policy-values.ts"
import { policyVariableCases } from "./cases/policy-variables.ts"
import { policyVersionCases } from "./cases/policy-versions.ts"
import { protocolCases } from "./cases/protocol.ts"
import { nodeAnnotationCases } from "./cases/node-annotations.ts"
import { permissionCases } from "./cases/permissions.ts"
import { podAnnotationCases } from "./cases/pod-annotations.ts"
import { podAdmissionCases } from "./cases/pod-admission.ts"
import { podAndAccountCases } from "./cases/pods-and-accounts.ts"
import { podChangeCases } from "./cases/pod-changes.ts"
import { podPartCases } from "./cases/pod-parts.ts"
import { podRuleCases } from "./cases/pod-rules.ts"
import { podSubresourceCases } from "./cases/pod-subresources.ts"
import { podSecurityCases } from "./cases/pod-security.ts"
import { proxyCases } from "./cases/proxies.ts"
import { quotaScopeCases } from "./cases/quota-scopes.ts"
import { prunedStructCases } from "./cases/pruned-structs.ts"
import { queryByteCases } from "./cases/query-bytes.ts"
import { quotaCases } from "./cases/quotas.ts"
import { reducedListCases } from "./cases/reduced-lists.ts"
import { repeatedDeletionCases } from "./cases/repeated-deletions.ts"
import { requestCases } from "./cases/requests.ts"
import { reviewRuleCases } from "./cases/review-rules.ts"
import { ruleSyntaxCases } from "./cases/rule-syntax.ts"
import { sameAmountCases } from "./cases/same-amounts.ts"
import { scaleFaultCases } from "./cases/scale-faults.ts"
import { seldomFieldCases } from "./cases/seldom-fields.ts"
import { servedVersionCases } from "./cases/served-versions.ts"
import { serviceChangeCases } from "./cases/service-changes.ts"
import { serviceFamilyCases } from "./cases/service-families.ts"
import { strictPatchCases } from "./cases/strict-patches.ts"
import { strictTextCases } from "./cases/strict-texts.ts"
import { sourceAndExpressionCases } from "./cases/sources-and-expressions.ts"
import { subresourceFormCases } from "./cases/subresource-forms.ts"
import { subresourceCases } from "./cases/subresources.ts"
import { tableCases } from "./cases/tables.ts"
import { textLengthCases } from "./cases/text-lengths.ts"
import { tokenCases } from "./cases/tokens.ts"
import { unroutedPathCases } from "./cases/unrouted-paths.ts"
import { unservedVersionCases } from "./cases/unserved-versions.ts"
import { warningCases } from "./cases/warnings.ts"
import { workloadCases } from "./cases/workloads.ts"
import { yamlCases } from "./cases/yaml.ts"
import { fieldScenarios, statusScenarios } from "./generate/field-scenarios.ts"
import { lifeScenarios } from "./generate/life-scenarios.ts"
import { metadataScenarios } from "./generate/metadata-scenarios.ts"
import { protobufScenarios } from "./generate/protobuf-scenarios.ts"
import { settling } from "./generate/settling.ts"
import { kinds } from "./generate/objects.ts"
import { generators, generatorsOf } from "./random/generators.ts"
import type { Scenario } from "./scenario.ts"

/** Seeds of the suite, which are fixed. random.ts uses others. */
const randomSeeds = [1, 2]

export interface ScenarioGroup {
  name: string
  scenarios: readonly Scenario[]
}

export function scenarioGroups(): ScenarioGroup[] {
  return [
    {
      name: "discovery and health",
      scenarios: [...discoveryCases(), ...pathCases(), ...unroutedPathCases(), ...emptySegmentCases()],
    },
    {
      name: "OpenAPI documents",
      scenarios: [...openAPICases(), ...customDocumentCases(), ...customDocumentEdgeCases()],
    },
    { name: "lists and watches", scenarios: [...listCases(), ...bookmarkCases(), ...continueTokenCases()] },
    { name: "parts of a control plane", scenarios: componentCases() },
    { name: "nodes", scenarios: [...nodeReadCases(), ...nodeWriteCases()] },
    {
      name: "access",
      scenarios: [
        ...accessCases(),
        ...creatingUpdateCases(),
        ...grantCases(),
        ...impersonationCases(),
        ...permissionCases(),
        ...tokenCases(),
      ],
    },
    {
      name: "custom resources",
      scenarios: [
        ...customResourceCases(),
        ...customValueCases(),
        ...customListCases(),
        ...customStatusCases(),
        ...customScaleCases(),
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
      ],
    },
    {
      name: "subresources",
      scenarios: [
        ...subresourceCases(),
        ...podSubresourceCases(),
        ...subresourceFormCases(),
        ...ownRuleCases(),
        ...claimAndVolumeCases(),
        ...sameAmountCases(),
        ...olderRuleCases(),
        ...emptyByteCases(),
        ...emptyEntryCases(),
        ...podChangeCases(),
        ...podPartCases(),
        ...podRuleCases(),
        ...oddWriteCases(),
        ...badMetadataCases(),
        ...policyVariableCases(),
        ...policyParamCases(),
        ...policyCostCases(),
        ...policyEvaluationCases(),
        ...policyResultCases(),
        ...policyTextCases(),
        ...policyVersionCases(),
        ...policyValueCases(),
        ...deletionOptionCases(),
        ...lateDefaultCases(),
        ...lastFinalizerCases(),
        ...admittedReviewCases(),
        ...podAndAccountCases(),
        ...evictionCases(),
        ...proxyCases(),
        ...scaleFaultCases(),
        ...olderAutoscalerCases(),
        ...seldomFieldCases(),
      ],
    },
    {
      name: "templates and namespaces' limits",
      scenarios: [
        ...addressCases(),
        ...serviceChangeCases(),
        ...serviceFamilyCases(),
        ...edgeCases(),
        ...warningCases(),
        ...keyTextCases(),
        ...textLengthCases(),
        ...certificateRequestCases(),
        ...deviceRuleCases(),
        ...classRuleCases(),
        ...jobRuleCases(),
        ...countRuleCases(),
        ...reviewRuleCases(),
        ...workloadCases(),
        ...statusMetadataCases(),
        ...cronScheduleCases(),
        ...quotaCases(),
        ...quotaScopeCases(),
        ...podAdmissionCases(),
        ...defaultClassCases(),
        ...podSecurityCases(),
        ...nodeAnnotationCases(),
        ...podAnnotationCases(),
        ...labelKeyCases(),
        ...emptyStructCases(),
        ...endedDecodingCases(),
        ...lastAnswerCases(),
        ...strategicMergeCases(),
      ],
    },
    {
      name: "forms and encodings",
      scenarios: [
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
        ...customInheritedNameCases(),
      ],
    },
    {
      name: "definitions at random",
      scenarios: randomSeeds.flatMap((seed) => generators.map((make) => make(seed))),
    },
    ...kinds().map((kind) => ({
      name: kind.title,
      scenarios: [
        ...settling(kind, [
          ...lifeScenarios(kind),
          ...protobufScenarios(kind),
          ...metadataScenarios(kind),
          ...fieldScenarios(kind),
          ...statusScenarios(kind),
        ]),
        // The first generator makes requests of every type.
        ...generatorsOf(kind).flatMap((make, index) => randomSeeds.slice(0, index === 0 ? undefined : 1).map(make)),
      ],
    })),
  ]
}
