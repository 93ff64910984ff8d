// IPAddresses: their name is the address. Source: k8s.io/kubernetes/pkg/apis/networking/validation ValidateIPAddress and
// k8s.io/apimachinery/pkg/util/validation IsValidIP, the strict one.

import { isIP } from "node:net"
import { FieldPath, required, type FieldError } from "../../../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField } from "../../validation/equality.ts"

type IPAddress = KubeObject & { spec?: { parentRef?: { resource?: string; name?: string } } }

const path = FieldPath.root("spec", "parentRef")

const strategy: Strategy<IPAddress> = {
  nameRule: (name) => addressFaults(name),
  validate: (_ctx, address) => validate(address),
  validateUpdate: (_ctx, address, current) => [
    ...immutableField(path, address.spec?.parentRef, current.spec?.parentRef),
    ...validate(address),
  ],
}

export const ipAddresses: KindExtension = { strategy }

function validate({ spec }: IPAddress): FieldError[] {
  if (spec?.parentRef === undefined) return [required(path)]
  const { resource, name } = spec.parentRef
  return [...(resource ? [] : [required(path.child("resource"))]), ...(name ? [] : [required(path.child("name"))])]
}

function addressFaults(name: string): string[] {
  const withoutZeros = name.replace(/(^|\.)0+(?=\d)/g, "$1")
  if (withoutZeros !== name && isIP(withoutZeros) === 4) return ["must not have leading 0s"]
  const family = isIP(name)
  if (family === 0 || name.includes("%")) return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]
  if (family === 4) return []
  const canonical = new URL(`http://[${name}]`).hostname.slice(1, -1)
  if (canonical.startsWith("::ffff:")) return ["must not be an IPv4-mapped IPv6 address"]
  return canonical === name ? [] : [`must be in canonical form ("${canonical}")`]
}
