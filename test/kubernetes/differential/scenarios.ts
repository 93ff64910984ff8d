// All scenarios, in the order of the report.

import { accessCases } from "./cases/access.ts"
import { admittedReviewCases } from "./cases/admitted-reviews.ts"
import { addressCases } from "./cases/addresses.ts"
import { badMetadataCases } from "./cases/bad-metadata.ts"
import { bookmarkCases } from "./cases/bookmarks.ts"
import { claimAndVolumeCases } from "./cases/claims-and-volumes.ts"
import { certificateRequestCases } from "./cases/certificate-requests.ts"
import { classRuleCases } from "./cases/class-rules.ts"
import { componentCases } from "./cases/components.ts"
import { creatingUpdateCases } from "./cases/creating-updates.ts"
import { continueTokenCases } from "./cases/continue-tokens.ts"
import { countRuleCases } from "./cases/count-rules.ts"
import { cronScheduleCases } from "./cases/cron-schedules.ts"
import { defaultClassCases } from "./cases/default-classes.ts"
import { customDocumentEdgeCases } from "./cases/custom-document-edges.ts"
import { customDocumentCases } from "./cases/custom-documents.ts"
import { deletionOptionCases } from "./cases/deletion-options.ts"
import { deviceRuleCases } from "./cases/device-rules.ts"
import { discoveryCases } from "./cases/discovery.ts"
import { edgeCases } from "./cases/edges.ts"
import { statusMetadataCases } from "./cases/status-metadata.ts"
import { strategicMergeCases } from "./cases/strategic-merges.ts"
import { lastAnswerCases } from "./cases/last-answers.ts"
import { lateDefaultCases } from "./cases/late-defaults.ts"
import { lastFinalizerCases } from "./cases/last-finalizers.ts"
import { emptyByteCases } from "./cases/empty-bytes.ts"
import { emptyEntryCases } from "./cases/empty-entries.ts"
import { emptySegmentCases } from "./cases/empty-segments.ts"
import { endedDecodingCases } from "./cases/ended-decoding.ts"
import { emptyStructCases } from "./cases/empty-structs.ts"
import { evictionCases } from "./cases/evictions.ts"
import { firstFaultCases } from "./cases/first-faults.ts"
import { grantCases } from "./cases/grants.ts"
import { impersonationCases } from "./cases/impersonation.ts"
import { jobRuleCases } from "./cases/job-rules.ts"
import { keyTextCases } from "./cases/key-texts.ts"
import { oddWriteCases } from "./cases/odd-writes.ts"
import { olderAutoscalerCases } from "./cases/older-autoscalers.ts"
import { olderRuleCases } from "./cases/older-rules.ts"
import { olderScaleCases } from "./cases/older-scales.ts"
import { openAPICases } from "./cases/openapi.ts"
import { labelKeyCases } from "./cases/label-keys.ts"
import { listCases } from "./cases/lists.ts"
import { watchCases } from "./cases/watches.ts"
import { nodeReadCases } from "./cases/node-reads.ts"
import { nodeWriteCases } from "./cases/node-writes.ts"
import { ownRuleCases } from "./cases/own-rules.ts"
import { pathCases } from "./cases/paths.ts"
import { policyCostCases } from "./cases/policy-costs.ts"
import { policyCustomValueCases } from "./cases/policy-custom-values.ts"
import { policyNameCases } from "./cases/policy-names.ts"
import { policyEvaluationCases } from "./cases/policy-evaluations.ts"
import { policyParamCases } from "./cases/policy-params.ts"
import { policyResultCases } from "./cases/policy-results.ts"
import { policyTextCases } from "./cases/policy-texts.ts"
import { policyValueCases } from "./cases/policy-values.ts"
import { policyVariableCases } from "./cases/policy-variables.ts"
import { policyVersionCases } from "./cases/policy-versions.ts"
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
import { quotaCases } from "./cases/quotas.ts"
import { reviewRuleCases } from "./cases/review-rules.ts"
import { sameAmountCases } from "./cases/same-amounts.ts"
import { scaleFaultCases } from "./cases/scale-faults.ts"
import { seldomFieldCases } from "./cases/seldom-fields.ts"
import { serviceChangeCases } from "./cases/service-changes.ts"
import { serviceFamilyCases } from "./cases/service-families.ts"
import { subresourceFormCases } from "./cases/subresource-forms.ts"
import { subresourceCases } from "./cases/subresources.ts"
import { textLengthCases } from "./cases/text-lengths.ts"
import { tokenCases } from "./cases/tokens.ts"
import { unroutedPathCases } from "./cases/unrouted-paths.ts"
import { warningCases } from "./cases/warnings.ts"
import { workloadCases } from "./cases/workloads.ts"
import { fieldScenarios, statusScenarios } from "./generate/field-scenarios.ts"
import { lifeScenarios } from "./generate/life-scenarios.ts"
import { metadataScenarios } from "./generate/metadata-scenarios.ts"
import { protobufScenarios } from "./generate/protobuf-scenarios.ts"
import { settling } from "./generate/settling.ts"
import { kinds } from "./generate/objects.ts"
import { generators, generatorsOf } from "./random/generators.ts"
import { customResourceScenarios } from "./custom-resource-scenarios.ts"
import { formScenarios } from "./form-scenarios.ts"
import type { Scenario } from "./scenario.ts"

/** Seeds of the suite, which are fixed. random.ts uses others. */
const randomSeeds = [1, 2]

interface ScenarioGroup {
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
    {
      name: "lists and watches",
      scenarios: [...listCases(), ...watchCases(), ...bookmarkCases(), ...continueTokenCases()],
    },
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
    { name: "custom resources", scenarios: customResourceScenarios() },
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
        ...policyCustomValueCases(),
        ...policyNameCases(),
        ...deletionOptionCases(),
        ...lateDefaultCases(),
        ...firstFaultCases(),
        ...lastFinalizerCases(),
        ...admittedReviewCases(),
        ...podAndAccountCases(),
        ...evictionCases(),
        ...proxyCases(),
        ...scaleFaultCases(),
        ...olderScaleCases(),
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
    { name: "forms and encodings", scenarios: formScenarios() },
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
