// IngressClasses. Source: k8s.io/kubernetes/pkg/apis/networking.

import {
  type FieldError,
  FieldPath,
  forbiddenField,
  notSupported,
  required,
  tooLong,
} from "../../../../apimachinery/field-errors.ts"
import {
  validateDNS1123Label,
  validateDNS1123Subdomain,
  validatePathSegmentName,
} from "../../../../apimachinery/names.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField } from "../../validation/equality.ts"
import { domainPrefixedPath, messages, named } from "../../validation/values.ts"

interface Parameters {
  apiGroup?: string
  kind?: string
  name?: string
  namespace?: string
  scope?: string
}
type IngressClass = KubeObject & { spec?: { controller?: string; parameters?: Parameters } }

const path = FieldPath.root("spec")
const maxController = 250

const strategy: Strategy<IngressClass> = {
  default(ingressClass) {
    ingressClass.spec ??= {}
    if (ingressClass.spec.parameters !== undefined) ingressClass.spec.parameters.scope ??= "Cluster"
  },
  validate: (_ctx, ingressClass) => validate(ingressClass),
  validateUpdate: (_ctx, ingressClass, current) => [
    ...immutableField(path.child("controller"), ingressClass.spec?.controller ?? "", current.spec?.controller ?? ""),
    ...validate(ingressClass),
  ],
}

export const ingressClasses: KindExtension = { strategy }

function validate({ spec }: IngressClass): FieldError[] {
  const controller = spec?.controller ?? ""
  const at = path.child("controller")
  const errors: FieldError[] = Buffer.byteLength(controller) > maxController ? [tooLong(at, "", maxController)] : []
  errors.push(...domainPrefixedPath(at, controller))
  return spec?.parameters === undefined
    ? errors
    : [...errors, ...validateParameters(path.child("parameters"), spec.parameters)]
}

function validateParameters(at: FieldPath, parameters: Parameters): FieldError[] {
  const { apiGroup, kind, name, namespace, scope = "" } = parameters
  const errors = [
    ...(apiGroup === undefined ? [] : messages(at.child("apiGroup"), apiGroup, validateDNS1123Subdomain(apiGroup))),
    ...named(at.child("kind"), kind, validatePathSegmentName),
    ...named(at.child("name"), name, validatePathSegmentName),
  ]
  const place = at.child("namespace")
  switch (scope) {
    case "Namespace":
      return namespace === undefined
        ? [...errors, required(place, "`parameters.scope` is set to 'Namespace'")]
        : [...errors, ...messages(place, namespace, validateDNS1123Label(namespace))]
    case "Cluster":
      return namespace === undefined
        ? errors
        : [...errors, forbiddenField(place, "`parameters.scope` is set to 'Cluster'")]
    default:
      return [...errors, notSupported(at.child("scope"), scope, ["Cluster", "Namespace"])]
  }
}
