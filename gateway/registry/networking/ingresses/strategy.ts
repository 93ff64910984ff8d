// Ingresses. Source: k8s.io/kubernetes/pkg/apis/networking.

import type * as models from "@kubernetes/client-node"
import {
  type FieldError,
  FieldPath,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import {
  validateDNS1123Label,
  validateDNS1123Subdomain,
  validatePathSegmentName,
  validateWildcardSubdomain,
} from "../../../../apimachinery/names.ts"
import { isGivenEmpty } from "../../../../apimachinery/schema/decode/given.ts"
import type { KubeObject, Wire } from "../../../../apimachinery/object.ts"
import { loadBalancerWarnings } from "../../core/services/warnings.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { isAddress, legacyAddress } from "../../validation/addresses.ts"
import { messages, named, portNameRule, portNumber } from "../../validation/values.ts"

type Spec = Wire<models.V1IngressSpec>
type Backend = Wire<models.V1IngressBackend>
type HttpPath = Wire<models.V1HTTPIngressPath>
type Ingress = KubeObject & {
  spec?: Spec
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } }
}

const path = FieldPath.root("spec")
const classAnnotation = "kubernetes.io/ingress.class"
const classAnnotationOf = ({ metadata }: Ingress): string | undefined => metadata.annotations?.[classAnnotation]
const forbiddenSequences = ["//", "/./", "/../", "%2f", "%2F"]
const forbiddenEnds = ["/..", "/."]

const strategy: Strategy<Ingress> = {
  default(ingress) {
    ingress.spec ??= {}
  },

  prepareForCreate(_ctx, ingress) {
    ingress.status = { loadBalancer: {} }
  },

  validate(_ctx, ingress) {
    const errors = validateSpec(ingress.spec ?? {})
    const annotation = classAnnotationOf(ingress)
    const name = ingress.spec?.ingressClassName
    if (annotation !== undefined && name !== undefined && annotation !== name) {
      errors.push(
        invalidValue(
          FieldPath.root("annotations", classAnnotation),
          annotation,
          "must match `ingressClassName` when both are specified",
        ),
      )
    }
    return errors
  },

  validateUpdate: (ctx, ingress, current) =>
    ctx.info.subresource === "status" ? validateStatus(ingress, current) : validateSpec(ingress.spec ?? {}),

  warnings: (_ctx, ingress, current) =>
    current === undefined && classAnnotationOf(ingress) !== undefined && ingress.spec?.ingressClassName === undefined
      ? [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
  statusWarnings: ({ status }) => loadBalancerWarnings(status?.loadBalancer?.ingress),
}

export const ingresses: KindExtension = { strategy }

function validateSpec(spec: Spec): FieldError[] {
  const rules = spec.rules ?? []
  const errors: FieldError[] = []
  if (rules.length === 0 && spec.defaultBackend === undefined) {
    const shown = isGivenEmpty(spec, "rules") ? [] : spec.rules
    errors.push(invalidValue(path, shown, "either `defaultBackend` or `rules` must be specified"))
  }
  if (spec.defaultBackend !== undefined) {
    errors.push(...validateBackend(path.child("defaultBackend"), spec.defaultBackend))
  }
  for (const [index, rule] of rules.entries()) {
    const at = path.child("rules").index(index)
    if (rule.host) errors.push(...validateHost(at.child("host"), rule.host, true))
    if (rule.http === undefined) continue
    const paths = rule.http.paths ?? []
    if (paths.length === 0) errors.push(required(at.child("http", "paths")))
    for (const [place, item] of paths.entries()) {
      errors.push(...validatePath(at.child("http", "paths").index(place), item))
    }
  }
  for (const [index, tls] of (spec.tls ?? []).entries()) {
    const at = path.child("tls").index(index)
    for (const [place, host] of (tls.hosts ?? []).entries()) {
      errors.push(...validateHost(at.child("hosts").index(place), host, false))
    }
    if (tls.secretName) {
      errors.push(...messages(at.child("secretName"), tls.secretName, validateDNS1123Subdomain(tls.secretName)))
    }
  }
  const name = spec.ingressClassName
  if (name !== undefined) errors.push(...messages(path.child("ingressClassName"), name, validateDNS1123Subdomain(name)))
  return errors
}

function validateStatus(ingress: Ingress, current: Ingress): FieldError[] {
  const points = ({ status }: Ingress) => status?.loadBalancer?.ingress ?? []
  const kept = new Set(points(current).flatMap(({ ip }) => ip ?? []))
  return points(ingress).flatMap(({ ip, hostname }, index) => {
    const at = FieldPath.root("status", "loadBalancer", "ingress").index(index)
    const errors = ip ? legacyAddress(at.child("ip"), ip, kept) : []
    if (!hostname) return errors
    const place = at.child("hostname")
    errors.push(...messages(place, hostname, validateDNS1123Subdomain(hostname)))
    if (isAddress(hostname)) errors.push(invalidValue(place, hostname, "must be a DNS name, not an IP address"))
    return errors
  })
}

function validateHost(at: FieldPath, host: string, noAddress: boolean): FieldError[] {
  const errors = noAddress && isAddress(host) ? [invalidValue(at, host, "must be a DNS name, not an IP address")] : []
  const rule = host.includes("*") ? validateWildcardSubdomain : validateDNS1123Subdomain
  return [...errors, ...messages(at, host, rule(host))]
}

function validatePath(at: FieldPath, item: HttpPath): FieldError[] {
  const { pathType, path: text = "" } = item
  if (pathType === undefined) return [required(at.child("pathType"), "pathType must be specified")]
  const errors: FieldError[] = []
  const place = at.child("path")
  const absolute = text.startsWith("/")
  if (pathType === "Exact" || pathType === "Prefix") {
    if (!absolute) errors.push(invalidValue(place, text, "must be an absolute path"))
    for (const sequence of forbiddenSequences) {
      if (text.includes(sequence)) errors.push(invalidValue(place, text, `must not contain '${sequence}'`))
    }
    for (const end of forbiddenEnds) {
      if (text.endsWith(end)) errors.push(invalidValue(place, text, `cannot end with '${end}'`))
    }
  } else if (pathType === "ImplementationSpecific") {
    if (text !== "" && !absolute) errors.push(invalidValue(place, text, "must be an absolute path"))
  } else {
    errors.push(notSupported(at.child("pathType"), pathType, ["Exact", "ImplementationSpecific", "Prefix"]))
  }
  return [...errors, ...validateBackend(at.child("backend"), item.backend ?? {})]
}

function validateBackend(at: FieldPath, backend: Backend): FieldError[] {
  const { service, resource } = backend
  if (service !== undefined && resource !== undefined) {
    return [invalidValue(at, "", "cannot set both resource and service backends")]
  }
  if (resource !== undefined) {
    const { apiGroup, kind, name } = resource
    const place = at.child("resource")
    return [
      ...(apiGroup === undefined
        ? []
        : messages(place.child("apiGroup"), apiGroup, validateDNS1123Subdomain(apiGroup))),
      ...named(place.child("kind"), kind, validatePathSegmentName),
      ...named(place.child("name"), name, validatePathSegmentName),
    ]
  }
  if (service === undefined) return [invalidValue(at, "", "resource or service backend is required")]
  const errors = named(at.child("service", "name"), service.name, validateDNS1123Label)
  const { name, number } = service.port ?? {}
  if (name && number) errors.push(invalidValue(at, "", "cannot set both port name & port number"))
  else if (name) errors.push(...messages(at.child("service", "port", "name"), name, portNameRule(name)))
  else if (number) errors.push(...portNumber(at.child("service", "port", "number"), number))
  else errors.push(required(at, "port name or number is required"))
  return errors
}
