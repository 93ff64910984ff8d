// Workloads in versions that are not served any more, in which a patch may still write them: their defaults, which are set once what the
// patch has made is decoded, before those of the served version, and what only these versions have.
// Source: k8s.io/kubernetes/pkg/apis/{apps/v1beta1,extensions/v1beta1}/defaults.go.

import { dictionary } from "../../../apimachinery/dictionary.ts"
import type { Json } from "../../../apimachinery/object.ts"
import { isEmptyObject, isObject, type JsonObject } from "../../../apimachinery/schema/json-object.ts"

const maxInt32 = 2_147_483_647

/** Of the versions that have defaults of their own. */
const rollouts: Readonly<Record<string, { amount: Json; history: number; deadline: number }>> = dictionary({
  "apps/v1beta1": { amount: "25%", history: 2, deadline: 600 },
  "extensions/v1beta1": { amount: 1, history: maxInt32, deadline: maxInt32 },
})

/** Where upstream keeps, in the served version, to which revision the object is to be rolled back. */
const rollbackAnnotation = "deprecated.deployment.rollback.to"

export function defaultOlderDeployment(deployment: JsonObject, apiVersion: string): void {
  defaultByTemplate(deployment, apiVersion)
  const { spec } = deployment
  const rollout = rollouts[apiVersion]
  if (rollout === undefined || !isObject(spec)) return
  setMissing(spec, "revisionHistoryLimit", rollout.history)
  setMissing(spec, "progressDeadlineSeconds", rollout.deadline)
  setMissing(spec, "strategy", {})
  moveRollback(deployment, spec)
  const { strategy } = spec
  if (!isObject(strategy)) return
  setMissingText(strategy, "type", "RollingUpdate")
  const isGiven = apiVersion === "extensions/v1beta1" && isObject(strategy["rollingUpdate"])
  if (strategy["type"] !== "RollingUpdate" && !isGiven) return
  setMissing(strategy, "rollingUpdate", {})
  const { rollingUpdate } = strategy
  if (!isObject(rollingUpdate)) return
  setMissing(rollingUpdate, "maxUnavailable", rollout.amount)
  setMissing(rollingUpdate, "maxSurge", rollout.amount)
}

export function defaultOlderStatefulSet(set: JsonObject, apiVersion: string): void {
  defaultByTemplate(set, apiVersion)
  const { spec } = set
  if (apiVersion !== "apps/v1beta1" || !isObject(spec)) return
  setMissing(spec, "updateStrategy", {})
  const { updateStrategy } = spec
  if (isObject(updateStrategy)) setMissingText(updateStrategy, "type", "OnDelete")
}

/** The labels of the template are those of an object without any, and those by which it selects. */
export function defaultByTemplate(object: JsonObject, apiVersion: string): void {
  const { spec, metadata } = object
  if (rollouts[apiVersion] === undefined || !isObject(spec)) return
  const labels = within(spec["template"], "metadata", "labels")
  if (!isObject(labels)) return
  setMissing(spec, "selector", { matchLabels: { ...labels } })
  if (!isObject(metadata)) return
  const own = metadata["labels"] ?? {}
  if (isObject(own) && isEmptyObject(own)) metadata["labels"] = { ...labels }
}

/** Undefined if there is no such field. */
function within(value: Json | undefined, ...fields: string[]): Json | undefined {
  return fields.reduce((inner, field) => (isObject(inner) ? inner[field] : undefined), value)
}

function setMissing(object: JsonObject, field: string, value: Json): void {
  if ((object[field] ?? null) === null) object[field] = value
}

/** Which may not be empty. */
function setMissingText(object: JsonObject, field: string, value: string): void {
  if ((object[field] ?? "") === "") object[field] = value
}

/** The field of the older versions, without which nothing is rolled back, whatever the annotation says. */
function moveRollback({ metadata }: JsonObject, spec: JsonObject): void {
  const { rollbackTo } = spec
  if (!isObject(metadata)) return
  const { [rollbackAnnotation]: before, ...others } = (metadata["annotations"] ?? {}) as JsonObject
  delete spec["rollbackTo"]
  if (isObject(rollbackTo)) {
    const { revision = 0 } = rollbackTo as { revision?: number | bigint }
    metadata["annotations"] = { ...others, [rollbackAnnotation]: String(revision) }
  } else if (before !== undefined) metadata["annotations"] = others
}
