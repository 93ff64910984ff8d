// IngressClasses. Source: k8s.io/kubernetes/pkg/apis/networking.

import { type FieldError, FieldPath, invalidValue, required, tooLong } from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField } from "../../validation/equality.ts"
import { messages, optionalOneOf, requiredValue } from "../../validation/values.ts"

type IngressClass = KubeObject & {
  spec?: {
    controller?: string
    parameters?: { apiGroup?: string; kind?: string; name?: string; namespace?: string; scope?: string }
  }
}

const path = FieldPath.root("spec")
const maxController = 250

const strategy: Strategy<IngressClass> = {
  default(ingressClass) {
    ingressClass.spec ??= {}
    if (ingressClass.spec.parameters !== undefined) ingressClass.spec.parameters.scope ??= "Cluster"
  },
  validate: (_ctx, ingressClass) => validate(ingressClass),
  validateUpdate: (_ctx, ingressClass, current) => [
    ...immutableField(path.child("controller"), ingressClass.spec?.controller, current.spec?.controller),
    ...validate(ingressClass),
  ],
}

export const ingressClasses: KindExtension = { strategy }

function validate({ spec }: IngressClass): FieldError[] {
  const controller = spec?.controller ?? ""
  const at = path.child("controller")
  const errors: FieldError[] = controller.length > maxController ? [tooLong(at, "", maxController)] : []
  errors.push(...domainPrefixedPath(at, controller))
  const parameters = spec?.parameters
  if (parameters === undefined) return errors
  const place = path.child("parameters")
  errors.push(...optionalOneOf(place.child("scope"), parameters.scope, ["Cluster", "Namespace"]))
  if (parameters.scope === "Namespace" && !parameters.namespace) {
    errors.push(required(place.child("namespace"), '`parameters.scope` is set to "Namespace"'))
  }
  return [
    ...errors,
    ...requiredValue(place.child("kind"), parameters.kind),
    ...requiredValue(place.child("name"), parameters.name),
  ]
}

/** "example.com/ingress-controller" */
export function domainPrefixedPath(at: FieldPath, value: string): FieldError[] {
  if (value === "") return [required(at)]
  const slash = value.indexOf("/")
  const [domain, rest] = [value.slice(0, slash), value.slice(slash + 1)]
  if (slash <= 0 || rest === "") {
    return [invalidValue(at, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  }
  const errors = validateDNS1123Subdomain(domain).map((fault) => invalidValue(at, domain, fault))
  const good = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(rest)
  return good ? errors : [...errors, ...messages(at, rest, ["Invalid path"])]
}
