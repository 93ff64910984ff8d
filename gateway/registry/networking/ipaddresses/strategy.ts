// IPAddresses, whose name is the address. Source: k8s.io/kubernetes/pkg/apis/networking/validation ValidateIPAddress.

import { type FieldError, FieldPath, required } from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain, validatePathSegmentName } from "../../../../apimachinery/names.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { strictAddressFaults } from "../../validation/addresses.ts"
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
  nameRule: strictAddressFaults,
  // An address cannot be generated.
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
