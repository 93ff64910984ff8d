// format.dns1123Label().validate(x). Source: k8s.io/apiserver/pkg/cel/library/format.go.

import { dictionary } from "../../dictionary.ts"
import {
  validateDNS1035Label,
  validateDNS1123Label,
  validateDNS1123Subdomain,
  validateLabelValue,
  validateQualifiedName,
} from "../../names.ts"
import { hasFormat } from "../../schema/formats.ts"
import { requestUrlFault } from "./urls.ts"
import { ArrayList, OpaqueValue, Optional, type Value, type Implementation } from "../values.ts"

export class NamedFormat extends OpaqueValue {
  readonly typeName = "kubernetes.NamedFormat"
  readonly faults: (text: string) => string[]
  /** The cost of a validation, as the length of a pattern. */
  readonly patternSize: number

  constructor(faults: (text: string) => string[], patternSize: number) {
    super()
    this.faults = faults
    this.patternSize = patternSize
  }

  equals(other: OpaqueValue): boolean {
    return other === this
  }
}

function byFormat(name: string, fault: string): (text: string) => string[] {
  return (text) => (hasFormat(name, text) ? [] : [fault])
}

const formats: Readonly<Record<string, NamedFormat>> = dictionary({
  byte: new NamedFormat(byFormat("byte", "invalid base64"), 84),
  date: new NamedFormat(byFormat("date", "invalid date"), 71),
  datetime: new NamedFormat(byFormat("datetime", "invalid datetime"), 71),
  dns1035Label: new NamedFormat((text) => validateDNS1035Label(text), 30),
  dns1035LabelPrefix: new NamedFormat((text) => validateDNS1035Label(text, true), 30),
  dns1123Label: new NamedFormat((text) => validateDNS1123Label(text), 30),
  dns1123LabelPrefix: new NamedFormat((text) => validateDNS1123Label(text, true), 30),
  dns1123Subdomain: new NamedFormat((text) => validateDNS1123Subdomain(text), 60),
  dns1123SubdomainPrefix: new NamedFormat((text) => validateDNS1123Subdomain(text, true), 60),
  labelValue: new NamedFormat(validateLabelValue, 40),
  qualifiedName: new NamedFormat(validateQualifiedName, 60),
  uri: new NamedFormat((text) => {
    const fault = requestUrlFault(text)
    return fault === undefined ? [] : [fault]
  }, 1103),
  uuid: new NamedFormat(byFormat("uuid", "does not match the UUID format"), 70),
})

export const formatFunctions: Readonly<Record<string, Implementation>> = dictionary({
  ...Object.fromEntries(Object.entries(formats).map(([name, format]) => [`format.${name}`, (): Value => format])),
  "format.named": ([name]) => {
    if (typeof name !== "string") return undefined
    const format = formats[name]
    return format === undefined ? Optional.none : new Optional(format)
  },
  validate: ([format, text]) => {
    if (!(format instanceof NamedFormat) || typeof text !== "string") return undefined
    const faults = format.faults(text)
    return faults.length === 0 ? Optional.none : new Optional(new ArrayList(faults))
  },
})
