// Owners and dependents as in owners.ts, but some references are wrong in one way: they have the version, the kind, the name or the uid of
// something else, or of nothing.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { uid } from "../scenarios/deletion-steps.ts"
import { settle } from "../scenarios/steps.ts"
import type { Family } from "./family.ts"
import { owners } from "./owners.ts"

interface Reference {
  apiVersion: string
  kind: string
  name: string
  uid: string
}

interface Owned {
  metadata?: { ownerReferences?: readonly Reference[] }
}

export const falseOwners: Family = (random) => {
  const scenario = owners(random)
  return { ...scenario, steps: scenario.steps.flatMap((step) => falsified(random, step)) }
}

/** What may be deleted at once is waited for: whether it can still be named as an owner would be a matter of moments. */
function falsified(random: Random, step: Step): Step[] {
  if ("create" in step) return [{ ...step, create: withFaults(random, step.create) }, settle]
  if ("patch" in step) return [{ ...step, with: withFaults(random, step.with) }]
  return [step]
}

function withFaults(random: Random, object: Owned): object {
  const { metadata } = object
  if (metadata?.ownerReferences === undefined) return object
  const ownerReferences = metadata.ownerReferences.map((reference) =>
    chance(random, 0.4) ? { ...reference, ...fault(random, reference) } : reference,
  )
  return { ...object, metadata: { ...metadata, ownerReferences } }
}

const resources = ["configmaps", "secrets", "serviceaccounts"] as const

function fault(random: Random, { name }: Reference): Partial<Reference> {
  const other = `o${random(8)}`
  return pick<Partial<Reference>>(random, [
    { apiVersion: pick(random, ["v2", "apps/v1", "example.com/v1"]) },
    { kind: pick(random, ["ConfigMap", "Secret", "ServiceAccount", "Namespace", "Nothing"]) },
    { name: pick(random, [other, other, "nobody"]) },
    { uid: pick(random, [uid, `UID:${pick(random, resources)}/${other}`, `UID:${pick(random, resources)}/${name}`]) },
  ])
}
