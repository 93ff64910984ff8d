// IPAddresses: their name is the address. Source: k8s.io/kubernetes/pkg/apis/networking/validation ValidateIPAddress and
// k8s.io/apimachinery/pkg/util/validation IsValidIP, the strict one.

import { isIP } from "node:net"
import { type FieldError, FieldPath, required } from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain, validatePathSegmentName } from "../../../../apimachinery/names.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField } from "../../validation/equality.ts"
import { messages, named } from "../../validation/values.ts"

interface Reference {
  group?: string
  resource?: string
  namespace?: string
  name?: string
}
type IPAddress = KubeObject & { spec?: { parentRef?: Reference } }

const path = FieldPath.root("spec", "parentRef")

const strategy: Strategy<IPAddress> = {
  generation: false,
  nameRule: (name) => addressFaults(name),
  // Nobody can make up an address.
  generateName: (prefix) => prefix,
  validate: (_ctx, address) => validate(address),
  validateUpdate: (_ctx, address, current) => [
    ...validate(address),
    ...immutableField(path, address.spec?.parentRef, current.spec?.parentRef),
  ],
  selectableFields: ({ spec }) => ({
    "spec.parentRef.group": spec?.parentRef?.group ?? "",
    "spec.parentRef.resource": spec?.parentRef?.resource ?? "",
    "spec.parentRef.namespace": spec?.parentRef?.namespace ?? "",
    "spec.parentRef.name": spec?.parentRef?.name ?? "",
  }),
}

export const ipAddresses: KindExtension = { strategy }

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

function validate({ spec }: IPAddress): FieldError[] {
  if (spec?.parentRef === undefined) return [required(path)]
  const { group, resource, namespace, name } = spec.parentRef
  return [
    ...(group ? messages(path.child("group"), group, validateDNS1123Subdomain(group)) : []),
    ...named(path.child("resource"), resource, validatePathSegmentName),
    ...named(path.child("name"), name, validatePathSegmentName),
    ...(namespace ? messages(path.child("namespace"), namespace, validatePathSegmentName(namespace)) : []),
  ]
}
