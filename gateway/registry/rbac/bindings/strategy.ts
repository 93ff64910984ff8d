// RoleBindings and ClusterRoleBindings. Source: k8s.io/kubernetes/pkg/apis/rbac.

import {
  type FieldError,
  FieldPath,
  invalidValue,
  notSupportedText,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain, validatePathSegmentName } from "../../../../apimachinery/names.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { confirmBinding } from "../grants.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { messages, named } from "../../validation/values.ts"

interface Subject {
  kind?: string
  apiGroup?: string
  name?: string
  namespace?: string
}
type Binding = KubeObject & { roleRef?: { apiGroup?: string; kind?: string; name?: string }; subjects?: Subject[] }

const group = "rbac.authorization.k8s.io"

function strategyOf(namespaced: boolean): Strategy<Binding> {
  return {
    nameRule: validatePathSegmentName,
    generation: false,
    allowCreateOnUpdate: true,
    confirm: (ctx, binding, current) =>
      confirmBinding(ctx, binding, current, namespaced ? "rolebindings" : "clusterrolebindings"),

    default(binding) {
      binding.roleRef ??= {}
      binding.roleRef.apiGroup = binding.roleRef.apiGroup || group
      for (const subject of binding.subjects ?? []) {
        if (subject.kind === "User" || subject.kind === "Group") subject.apiGroup = subject.apiGroup || group
      }
    },

    validate: (_ctx, binding) => validate(binding, namespaced),

    validateUpdate(_ctx, binding, current) {
      const errors = validate(binding, namespaced)
      if (!semanticEqual(binding.roleRef, current.roleRef)) {
        // Upstream prints its own struct here, with Go's field names.
        const { apiGroup: APIGroup, kind: Kind, name: Name } = binding.roleRef ?? {}
        errors.push(invalidValue(FieldPath.root("roleRef"), { APIGroup, Kind, Name }, "cannot change roleRef"))
      }
      return errors
    },
  }
}

export const roleBindings: KindExtension = { strategy: strategyOf(true) }
export const clusterRoleBindings: KindExtension = { strategy: strategyOf(false) }

function validate(binding: Binding, namespaced: boolean): FieldError[] {
  const reference = binding.roleRef ?? {}
  const at = FieldPath.root("roleRef")
  const kinds = namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"]
  const errors: FieldError[] = []
  if (reference.apiGroup !== group)
    errors.push(notSupportedText(at.child("apiGroup"), reference.apiGroup ?? "", [group]))
  if (!kinds.includes(reference.kind ?? ""))
    errors.push(notSupportedText(at.child("kind"), reference.kind ?? "", kinds))
  errors.push(...named(at.child("name"), reference.name, validatePathSegmentName))
  for (const [index, subject] of (binding.subjects ?? []).entries()) {
    errors.push(...validateSubject(FieldPath.root("subjects").index(index), subject, namespaced))
  }
  return errors
}

function validateSubject(at: FieldPath, subject: Subject, namespaced: boolean): FieldError[] {
  const { kind = "", name = "", apiGroup = "", namespace = "" } = subject
  const errors = name === "" ? [required(at.child("name"))] : []
  if (kind === "ServiceAccount") {
    if (name !== "") errors.push(...messages(at.child("name"), name, validateDNS1123Subdomain(name)))
    if (apiGroup !== "") errors.push(notSupportedText(at.child("apiGroup"), apiGroup, [""]))
    if (!namespaced && namespace === "") errors.push(required(at.child("namespace")))
  } else if (kind === "User" || kind === "Group") {
    if (apiGroup !== group) errors.push(notSupportedText(at.child("apiGroup"), apiGroup, [group]))
  } else errors.push(notSupportedText(at.child("kind"), kind, ["ServiceAccount", "User", "Group"]))
  return errors
}
