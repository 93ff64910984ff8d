// Validates the load balancer in a service's status. Source: ValidateLoadBalancerStatus upstream.

import {
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import type { Service } from "../../../../apimachinery/object.ts"
import { isAddress, legacyAddress } from "../../validation/addresses.ts"
import { messages } from "../../validation/values.ts"

const path = FieldPath.root("status", "loadBalancer", "ingress")

export function validateServiceStatus({ spec, status }: Service, current: Service): FieldError[] {
  const ingresses = status?.loadBalancer?.ingress ?? []
  if (ingresses.length === 0) return []
  if (spec?.type !== "LoadBalancer") {
    return [forbiddenField(path, "may only be used when `spec.type` is 'LoadBalancer'")]
  }
  const kept = new Set((current.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []))
  return ingresses.flatMap(({ ip, ipMode, hostname }, index) => {
    const at = path.index(index)
    return [
      ...(ip ? legacyAddress(at.child("ip"), ip, kept) : []),
      ...validateMode(at.child("ipMode"), ip, ipMode),
      ...(hostname ? validateHostname(at.child("hostname"), hostname) : []),
    ]
  })
}

function validateMode(at: FieldPath, ip: string | undefined, mode: string | undefined): FieldError[] {
  if (mode === undefined) return ip ? [required(at, "must be specified when `ip` is set")] : []
  if (!ip) return [forbiddenField(at, "may not be specified when `ip` is not set")]
  return mode === "VIP" || mode === "Proxy" ? [] : [notSupported(at, mode, ["Proxy", "VIP"])]
}

function validateHostname(at: FieldPath, hostname: string): FieldError[] {
  const errors = messages(at, hostname, validateDNS1123Subdomain(hostname))
  if (isAddress(hostname)) errors.push(invalidValue(at, hostname, "must be a DNS name, not an IP address"))
  return errors
}
