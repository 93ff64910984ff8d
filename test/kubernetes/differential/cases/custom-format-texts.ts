// Texts that have a format, or almost (format-texts.json): each is what a custom resource holds in a list of that format.

import { readFileSync } from "node:fs"
import type { Json } from "../../../../apimachinery/object.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"
import { definedWith } from "./things.ts"

const group = "ft@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`

export function customFormatTextCases(): Scenario[] {
  return [
    { name: "a custom resource has texts of formats, or almost", anyOrder: true, steps: formatTextSteps(formatTexts) },
    { name: "a custom resource has rules about URLs", anyOrder: true, steps: urlSteps(formatTexts["uri"] ?? []) },
    { name: "a custom resource has rules that read texts", anyOrder: true, steps: readingSteps() },
  ]
}

/** By format. */
export const formatTexts = JSON.parse(
  readFileSync(new URL("./format-texts.json", import.meta.url), "utf8"),
) as Readonly<Record<string, readonly string[]>>

const perRequest = 60

/** The texts of a format in requests of a few. */
export function formatTextSteps(texts: Readonly<Record<string, readonly string[]>>): RequestStep[] {
  const lists = Object.keys(texts).map((format) => [format, { type: "array", items: { type: "string", format } }])
  return [
    ...definedWith(group, Object.fromEntries(lists)),
    ...Object.entries(texts).flatMap(([format, all]) =>
      Array.from({ length: Math.ceil(all.length / perRequest) }, (_, index) => {
        const some = all.slice(index * perRequest, (index + 1) * perRequest)
        return writeThing({ [format]: some }, `POST ${format}, ${index + 1}`)
      }),
    ),
  ]
}

/** What a rule reads of each URL. */
export function urlSteps(texts: readonly string[]): RequestStep[] {
  const parts = ["getScheme", "getHost", "getHostname", "getPort", "getEscapedPath"]
  const rules = [
    ...parts.map((part) => ({ rule: "!isURL(self)", messageExpression: `url(self).${part}()` })),
    ...["a", "c", "e", "g", "h", "k", ""].map((key) => ({
      rule: `!isURL(self) || !('${key}' in url(self).getQuery())`,
      messageExpression: `url(self).getQuery()['${key}'][0]`,
    })),
    { rule: "!isURL(self)", messageExpression: "string(size(url(self).getQuery()))" },
    { rule: "!isURL(self) || url(self) == url(self + '#')", message: "with an empty fragment it is another" },
    { rule: "!isURL(self) || url(self) == url(self + '?')", message: "with an empty query it is another" },
    { rule: "!format.uri().validate(self).hasValue()", messageExpression: "format.uri().validate(self).value()[0]" },
  ]
  const items = { type: "string", maxLength: 100, "x-kubernetes-validations": rules }
  return [
    ...definedWith(group, { list: { type: "array", maxItems: 20, items } }),
    ...Array.from({ length: Math.ceil(texts.length / 20) }, (_, index) =>
      writeThing({ list: texts.slice(index * 20, (index + 1) * 20) }, `POST ${index + 1}`),
    ),
  ]
}

/** What rules say about texts that they cannot read. */
function readingSteps(): RequestStep[] {
  const texts = [
    "",
    "\u007f",
    "\u0001",
    "ü",
    "\u0085",
    '"',
    "😀",
    " ",
    "1.2.3.4",
    "1.2.3",
    "01.2.3.4",
    "::1",
    "fe80::1%eth0",
    ":::",
    "::ffff:1.2.3.4",
    "1.2.3.4/8",
    "1.2.3.4/08",
    "::/129",
    "1.2.3.4/",
    "fe80::%a/8",
    "1.2.3.4/ü",
    "1.2.3-a+b",
    "1.2.3-01",
    "1.2.ü",
    "v1.2.3",
    "1.2.3+ü",
    "1.2.3-ü",
    "18446744073709551616.0.0",
    "01.2.3",
    "1s",
    "1μs",
    "+0",
    "5.s",
    "1s".repeat(110),
    "9223372036854775808ns",
    "-9223372036854775808ns",
    "2562047h47m16.854775807s",
    "1m1",
    "2024-01-02T03:04:05Z",
    "2024-01-02T03:04:05,5Z",
    "2024-01-02t03:04:05z",
    "2024-13-02T03:04:05Z",
  ]
  const rules = [
    { rule: "ip(self).family() == 0" },
    { rule: "cidr(self).prefixLength() < 0" },
    { rule: "semver(self).major() < 0" },
    { rule: "string(duration(self)) == ''", messageExpression: "string(duration(self))" },
    { rule: "string(timestamp(self)) == ''", messageExpression: "string(timestamp(self))" },
  ]
  const items = { type: "string", maxLength: 300, "x-kubernetes-validations": rules }
  return [
    ...definedWith(group, { list: { type: "array", maxItems: 20, items } }),
    ...Array.from({ length: Math.ceil(texts.length / 20) }, (_, index) =>
      writeThing({ list: texts.slice(index * 20, (index + 1) * 20) }, `POST ${index + 1}`),
    ),
  ]
}

function writeThing(spec: Json, label: string): RequestStep {
  const thing = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" }, spec }
  return post(`${things}?dryRun=All`, thing, { label })
}
