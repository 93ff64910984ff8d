// String formats that apiextensions checks; unknown formats are ignored. Source: k8s.io/kube-openapi/pkg/validation/strfmt.

import { parseAddress, parseLooseAddress, parseLoosePrefix, readable } from "../addresses.ts"
import { dictionary } from "../dictionary.ts"
import { goNanoseconds } from "../go/duration.ts"
import { isMailAddress } from "../go/mail-address.ts"
import { urlFault } from "../go/url.ts"

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/
/** Before the fraction there may be any character, and of the offset only the digits are looked at. */
const timeOfDay = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:[^\n]\d+)?(?:z|[+-]\d\d:\d\d)$/u
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?([0-9a-f])[0-9a-f]{3}-?([0-9a-f])[0-9a-f]{3}-?[0-9a-f]{12}$/i
const amount = /(?<!\d)(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g
/** Or words that begin so: "seconds". */
const unit = /^(?:(?:ns|us|µs|ms|s|m|h|hr|d|w|wk)$|nano|micro|milli|sec|min|hour|day|week)/
const maxAmount = 2n ** 63n - 1n
/** Either one label, which may have a hyphen in second position; or several, the last of which consists of letters. */
const hostname =
  /^(?:[a-zA-Z0-9\p{S}\p{L}]-?[a-zA-Z0-9\p{S}\p{L}]{0,62}|(?:[a-zA-Z0-9\p{S}\p{L}](?:[-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u
const macs =
  /^(?:[0-9a-f]{2}(?:(:|-)[0-9a-f]{2}(?:\1[0-9a-f]{2}){4})(?:(?:\1[0-9a-f]{2}){2}|(?:\1[0-9a-f]{2}){14})?|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}(?:\.[0-9a-f]{4}|(?:\.[0-9a-f]{4}){7})?|[0-9a-f]{12}(?:[0-9a-f]{4}|[0-9a-f]{28})?)$/i
const channel = String.raw`[\t\n\f\r ]*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])[\t\n\f\r ]*`
const color = new RegExp(String.raw`^rgb\(${[channel, channel, channel].join(",")}\)$`)
const creditCard =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/
const label = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const at = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
}

/** Like upstream, ignores what follows another "t". */
function isDateTime(text: string): boolean {
  const [day = "", time = ""] = text.toLowerCase().split("t", 2)
  return isDate(day) && timeOfDay.test(time)
}

function isDuration(text: string): boolean {
  if (goNanoseconds(text) !== undefined) return true
  let isFound = false
  for (const [, digits = "", word = ""] of text.matchAll(amount)) {
    const significant = digits.replace(/^0+/, "")
    if (significant.length > 19 || BigInt(significant === "" ? "0" : significant) > maxAmount) return false
    isFound ||= unit.test(word.toLowerCase())
  }
  return isFound
}

function isUuid(text: string, version?: string): boolean {
  const match = uuid.exec(text)
  if (match === null) return false
  return version === undefined || (match[1] === version && (version === "3" || /[89ab]/i.test(match[2] ?? "")))
}

/** An address of IPv4 that is written as one of IPv6 is both. */
function isIPv4(text: string): boolean {
  return text.includes(".") && parseLooseAddress(text) !== undefined
}

function isIPv6(text: string): boolean {
  return text.includes(":") && !text.includes("%") && readable(() => parseAddress(text))
}

function isHostname(text: string): boolean {
  const isShort = Buffer.byteLength(text) <= 255 && text.split(".").every((part) => Buffer.byteLength(part) <= 63)
  return isShort && hostname.test(text)
}

function isbnSum(text: string, length: 10 | 13): boolean {
  const digits = text.replace(/[\t\n\f\r -]/g, "")
  if (!(length === 10 ? /^\d{9}[\dX]$/ : /^\d{13}$/).test(digits)) return false
  const values = Array.from(digits).map((digit) => (digit === "X" ? 10 : Number(digit)))
  const weight = (index: number): number => (length === 10 ? 10 - index : index % 2 === 0 ? 1 : 3)
  return values.reduce((sum, value, index) => sum + value * weight(index), 0) % (length === 10 ? 11 : 10) === 0
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/\D/g, "")
  if (!creditCard.test(digits)) return false
  let sum = 0
  for (const [index, digit] of Array.from(digits).reverse().entries()) {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2)
    sum += value > 9 ? value - 9 : value
  }
  return sum % 10 === 0
}

/** By name without dashes, as upstream's format registry looks them up. */
const checks: Readonly<Record<string, (text: string) => boolean>> = dictionary({
  bsonobjectid: (text) => /^[0-9a-f]{24}$/i.test(text),
  byte: (text) => base64.test(text),
  cidr: (text) => parseLoosePrefix(text) !== undefined,
  creditcard: isCreditCard,
  date: isDate,
  datetime: isDateTime,
  duration: isDuration,
  email: isMailAddress,
  hexcolor: (text) => /^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(text),
  hostname: isHostname,
  ipv4: isIPv4,
  ipv6: isIPv6,
  isbn: (text) => isbnSum(text, 10) || isbnSum(text, 13),
  isbn10: (text) => isbnSum(text, 10),
  isbn13: (text) => isbnSum(text, 13),
  k8slongname: (text) => text.length <= 253 && text.split(".").every((part) => label.test(part)),
  k8sshortname: (text) => text.length <= 63 && label.test(text),
  mac: (text) => macs.test(text),
  rgbcolor: (text) => color.test(text),
  ssn: (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  uri: (text) => urlFault(text, "request") === undefined,
  uuid: (text) => isUuid(text),
  uuid3: (text) => isUuid(text, "3"),
  uuid4: (text) => isUuid(text, "4"),
  uuid5: (text) => isUuid(text, "5"),
})

const ofStrings: ReadonlySet<string> = new Set([...Object.keys(checks), "password"])
const ofNumbers: Readonly<Record<string, readonly string[]>> = dictionary({
  integer: ["int32", "int64"],
  number: ["float", "double"],
})

/**
 * Whether the format applies to values of the type. Source: k8s.io/apiextensions-apiserver/pkg/apiserver/validation (formats.go).
 */
export function isFormatOf(type: unknown, format: string): boolean {
  return type === undefined || type === null || type === "" || type === "string"
    ? ofStrings.has(format.replaceAll("-", ""))
    : typeof type === "string" && (ofNumbers[type]?.includes(format) ?? false)
}

export function hasFormat(format: string, text: string): boolean {
  const name = format.replaceAll("-", "")
  const check = checks[name]
  return check === undefined || check(text)
}
