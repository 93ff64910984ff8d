// The template that results from applying a ControllerRevision to its StatefulSet. Most revisions replace the template. Others,
// written by hand or by another version of Kubernetes, must be applied and defaulted before they can be compared.
// Source: ApplyRevision and setMatchesLatestExistingRevision in k8s.io/kubernetes/pkg/controller/statefulset.

import { copyJson } from "../../apimachinery/copy.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import type { Json, PodTemplateSpec, StatefulSet } from "../../apimachinery/object.ts"
import { applyStrategicMergePatch } from "../../apimachinery/patch/strategic-merge-patch.ts"
import { convertPodTemplate, defaultPodTemplate } from "../../apimachinery/core/pod-defaults.ts"
import { decodeObject, writeZeros } from "../../apimachinery/schema/decode/decode.ts"
import { applyDefaults } from "../../apimachinery/schema/defaults.ts"
import { schemaOf } from "../../apimachinery/schema/facts.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import { StatusError } from "../../apimachinery/status.ts"
import { templateOf, type ControllerRevision } from "./revisions.ts"

/** Throws BadRequest if the revision cannot be applied. */
export function applied(set: StatefulSet, revision: ControllerRevision): PodTemplateSpec | undefined {
  if (revision.data?.spec?.template?.$patch === "replace") return templateOf(revision)
  const patch = copyJson((revision.data ?? {}) as unknown as Json)
  const result = applyStrategicMergePatch({ spec: { template: templateIn(set) } }, patch, schemaOfSets())
  return (result as StatefulSet).spec?.template
}

/** Whether applying the revision changes nothing, regardless of its format. */
export function isUnchangedBy(set: StatefulSet, revision: ControllerRevision): boolean {
  let template: PodTemplateSpec | undefined
  try {
    template = applied(set, revision)
  } catch (error) {
    // An invalid revision does not match the current template; as upstream, a new one is created.
    if (error instanceof StatusError) return false
    throw error
  }
  return equalIgnoringNulls(asServed(template), asServed(set.spec?.template))
}

/** The template as the API server returns it: with defaults, and without unknown fields. */
function asServed(template: PodTemplateSpec | undefined): unknown {
  const set = { spec: { template: copyJson(template ?? {}) } } as unknown as StatefulSet
  const schema = schemaOfSets()
  const json = set as unknown as Json
  decodeObject(schema, json, false, "memory")
  applyDefaults(schema, json)
  defaultPodTemplate(set.spec?.template)
  convertPodTemplate(set.spec?.template)
  writeZeros(schema, json)
  return set.spec?.template
}

const templateIn = (set: StatefulSet): Json => (set.spec?.template ?? {}) as unknown as Json

function schemaOfSets(): Schema {
  const schema = schemaOf({ group: "apps", version: "v1", kind: "StatefulSet" })
  if (schema === undefined) throw new Error("the schema of StatefulSets is not known")
  return schema
}
