// Annotations of nodes that taints replaced: they have no effect, but are still validated.
// Source: k8s.io/kubernetes/pkg/apis/core/validation (ValidateNodeSpecificAnnotations).

import { type FieldError, FieldPath, invalidValue, required } from "../../../../apimachinery/field-errors.ts"
import { type GoStruct, type GoType, readAnnotatedJson } from "../annotated-json.ts"
import { type Taints, validateTaints } from "./taints.ts"

const taintsAnnotation = "scheduler.alpha.kubernetes.io/taints"
const avoidAnnotation = "scheduler.alpha.kubernetes.io/preferAvoidPods"

const text: GoType = { is: "string", name: "string" }
/** In JSON a time is a string. */
const time: GoType = { is: "time", name: "string" }
const yesOrNo: GoType = { is: "bool", name: "bool" }

/** A struct without JSON tags. */
const taintList: GoType = {
  is: "list",
  name: "[]core.Taint",
  items: {
    is: "struct",
    name: "core.Taint",
    fields: [
      { name: "key", goName: "Key", type: text },
      { name: "value", goName: "Value", type: text },
      { name: "effect", goName: "Effect", type: { is: "string", name: "core.TaintEffect" } },
      { name: "timeAdded", goName: "TimeAdded", type: time },
    ],
  },
}

const struct = (name: string, fields: Readonly<Record<string, GoType>>): GoStruct => ({
  is: "struct",
  name,
  fields: Object.entries(fields).map(([field, type]) => ({ name: field, goName: field, type })),
})

const owner = struct("v1.OwnerReference", {
  apiVersion: text,
  kind: text,
  name: text,
  uid: { is: "string", name: "types.UID" },
  controller: yesOrNo,
  blockOwnerDeletion: yesOrNo,
})
const avoided = struct("v1.PreferAvoidPodsEntry", {
  podSignature: struct("v1.PodSignature", { podController: owner }),
  evictionTime: time,
  reason: text,
  message: text,
})
const avoidPods = struct("v1.AvoidPods", {
  preferAvoidPods: { is: "list", name: "[]v1.PreferAvoidPodsEntry", items: avoided },
})

interface AvoidPods {
  preferAvoidPods?: { podSignature?: { podController?: { controller?: boolean } } }[]
}

export function validateNodeAnnotations(annotations: Readonly<Record<string, string>> = {}): FieldError[] {
  const path = FieldPath.root("metadata", "annotations")
  return [
    ...validateTaintsAnnotation(path, annotations[taintsAnnotation] ?? ""),
    ...validateAvoidPods(path, annotations[avoidAnnotation] ?? ""),
  ]
}

function validateTaintsAnnotation(path: FieldPath, given: string): FieldError[] {
  if (given === "") return []
  const read = readAnnotatedJson(given, taintList)
  if ("fault" in read) return [invalidValue(path, taintsAnnotation, read.fault)]
  return validateTaints(path.child(taintsAnnotation), (read.value ?? []) as unknown as Taints)
}

function validateAvoidPods(path: FieldPath, given: string): FieldError[] {
  if (given === "") return []
  const read = readAnnotatedJson(given, avoidPods)
  if ("fault" in read) return [invalidValue(path.child("AvoidPods"), avoidAnnotation, read.fault)]
  const { preferAvoidPods = [] } = (read.value ?? {}) as AvoidPods
  return preferAvoidPods.flatMap(({ podSignature }, index) => {
    const at = path.child(avoidAnnotation).index(index).child("PodSignature")
    const { podController } = podSignature ?? {}
    if (podController === undefined) return [required(at)]
    // controller must be true. Upstream panics if it is not set.
    if (podController.controller === true) return []
    return [invalidValue(at.child("PodController", "Controller"), false, "must point to a controller")]
  })
}
