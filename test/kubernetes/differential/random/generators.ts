// All generators of random scenarios: the same seed yields the same scenario.

import { type Kind, kinds } from "../generate/objects.ts"
import type { Scenario } from "../scenario.ts"
import { randomAccessScenario } from "./access.ts"
import { randomCertificateRequestScenario } from "./certificate-requests.ts"
import { randomClaimScenario } from "./claims.ts"
import { randomDefinitionLifeScenario } from "./definition-lives.ts"
import { randomCustomDocumentScenario } from "./custom-documents.ts"
import { randomCustomMutationScenario } from "./custom-mutations.ts"
import { randomCustomResourceScenario, randomDefinitionScenario } from "./definitions.ts"
import { randomDocumentScenario } from "./documents.ts"
import { randomEvictionScenario } from "./evictions.ts"
import { randomFormatTextScenario, randomUrlScenario } from "./format-texts.ts"
import { randomGrantScenario } from "./grants.ts"
import { randomImpersonationScenario } from "./impersonations.ts"
import { randomJobLifeScenario } from "./job-lives.ts"
import { randomKindWritersScenario } from "./kind-writers.ts"
import { randomLifeScenario } from "./lives.ts"
import { randomMutationScenario } from "./mutations.ts"
import { randomNamespaceEndScenario } from "./namespace-ends.ts"
import { randomPodSecurityScenario } from "./pod-security.ts"
import { randomPolicyScenario } from "./policies.ts"
import { randomPolicyKindScenario } from "./policy-kinds.ts"
import { randomPolicyMatchScenario } from "./policy-matches.ts"
import { randomProtobufScenario } from "./protobuf-bytes.ts"
import { randomQuotaScenario } from "./quotas.ts"
import { randomReadScenario } from "./reads.ts"
import { randomRedefinitionScenario } from "./redefinitions.ts"
import { randomReshapedScenario } from "./reshaped.ts"
import { randomResizeScenario } from "./resizes.ts"
import { randomRuleScenario } from "./rules.ts"
import { randomRuledValueScenario } from "./ruled-values.ts"
import { ruling } from "./ruling.ts"
import { randomScenario } from "./scenarios.ts"
import { randomShapeScenario } from "./shapes.ts"
import { randomTextScenario } from "./texts.ts"
import { randomTokenScenario } from "./tokens.ts"
import { randomVerdictScenario } from "./verdicts.ts"
import { randomVersionsScenario } from "./versions.ts"
import { randomCustomWritersScenario, randomWritersScenario } from "./writers.ts"

type Generator = (seed: number) => Scenario

/** Generators of scenarios for no kind, or for several. */
export const generators: readonly Generator[] = [
  randomDefinitionScenario,
  randomCustomResourceScenario,
  randomDefinitionLifeScenario,
  randomVersionsScenario,
  randomRedefinitionScenario,
  randomReshapedScenario,
  randomEvictionScenario,
  randomPolicyScenario,
  randomPodSecurityScenario,
  randomAccessScenario,
  randomTextScenario,
  randomFormatTextScenario,
  randomUrlScenario,
  randomVerdictScenario,
  randomPolicyMatchScenario,
  randomWritersScenario,
  randomCustomWritersScenario,
  randomRuleScenario,
  randomRuledValueScenario,
  randomQuotaScenario,
  randomTokenScenario,
  randomCertificateRequestScenario,
  randomShapeScenario,
  randomProtobufScenario,
  randomResizeScenario,
  randomJobLifeScenario,
  randomMutationScenario,
  randomCustomMutationScenario,
  randomClaimScenario,
  randomGrantScenario,
  randomImpersonationScenario,
  randomNamespaceEndScenario,
  randomDocumentScenario,
]

/** Not in the suite: upstream takes seconds to describe what has changed, or half a minute to find the kinds of parameters. */
const slowGenerators: readonly Generator[] = [randomCustomDocumentScenario, randomPolicyKindScenario]

export function generatorsOf(kind: Kind): readonly Generator[] {
  // Ruling resources are only written in dry runs, where one writer meets no other.
  const writers = ruling.has(kind.facts.resource) ? [] : [randomKindWritersScenario]
  return [randomScenario, randomLifeScenario, randomReadScenario, ...writers].map((make) => (seed) => make(kind, seed))
}

/** By title, with which the names of their scenarios begin. */
export function generatorsNamed(only: RegExp): readonly Generator[] {
  const own = [...generators, ...slowGenerators].filter((make) => only.test(make(0).name))
  return [...own, ...kinds().flatMap((kind) => generatorsOf(kind).filter((make) => only.test(make(0).name)))]
}
