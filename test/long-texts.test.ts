// Texts that a client may make as long as a body, in the forms that take a regular expression longest: with one that goes back and
// forth, none of these would end. What is asked is that they do.

import { describe, expect, test } from "vitest"
import { FieldPath } from "../apimachinery/field-errors.ts"
import { conversions } from "../apimachinery/cel/functions/convert.ts"
import { stringFunctions } from "../apimachinery/cel/functions/strings.ts"
import { parseDuration as celDuration } from "../apimachinery/cel/functions/time.ts"
import { parseCron } from "../apimachinery/cron.ts"
import { parseGoDuration } from "../apimachinery/go/duration.ts"
import { isQuantity } from "../apimachinery/quantity.ts"
import { parseJson } from "../apimachinery/schema/exact-integers.ts"
import { hasFormat } from "../apimachinery/schema/formats.ts"
import { ruleAllows } from "../gateway/authorization/rules.ts"
import { parseJsonPath } from "../gateway/custom-resources/json-path/parse.ts"
import { bodyFormat } from "../gateway/endpoints/negotiation.ts"
import { rewriteHTML } from "../gateway/proxy/rewrite.ts"
import { validateFieldRef } from "../gateway/registry/core/pod-spec/environment.ts"
import { validateVolumeSource } from "../gateway/registry/core/volumes/sources.ts"
import { substitute } from "../simulator/kubelet/sources.ts"

const many = 500_000
const path = FieldPath.root("spec")

const texts: Readonly<Record<string, string>> = {
  digits: "1".repeat(many),
  "digits and what is no unit": `${"1".repeat(many)}x`,
  "parts with a unit, and one without": `${"11s".repeat(60)}x`,
  spaces: `a${" ".repeat(many)}b`,
  "spaces and the end of a line": `TZ=UTC${" ".repeat(many)}a\nb`,
  stars: `${"*".repeat(many)}x*`,
  slashes: `${"/".repeat(many)}x`,
  brackets: "['".repeat(many),
  parentheses: "$(".repeat(many),
  "names of iSCSI": `${"iqn.2001-04.".repeat(many / 10)}|`,
  colons: `iqn.2001-04.a${":a".repeat(many)}|`,
  "tags that do not end": `<a${" ".repeat(many)}`,
  "tags that end": "<style></style>".repeat(many / 10),
}

const user = { name: "u", groups: [], extra: {} }
const none = { group: "", version: "", resource: "", subresource: "", namespace: "", name: "" }
const reading = { verb: "get", isResourceRequest: false, user, ...none }

/** Whether it came to an end: what it says does not matter, and a refusal is an answer, too. */
function isAnswered(ask: () => unknown): boolean {
  try {
    ask()
  } catch (error) {
    if (error instanceof TypeError || error instanceof ReferenceError) throw error
  }
  return true
}

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  "an object": (text) => parseJson(Buffer.from(JSON.stringify({ text }))),
  "a quantity": isQuantity,
  "a duration of Go": parseGoDuration,
  "a duration of CEL": celDuration,
  "a double of CEL": (text) => conversions["double"]?.(text as never),
  "trim() of CEL": (text) => stringFunctions["trim"]?.([text]),
  "format duration": (text) => hasFormat("duration", text),
  "format email": (text) => hasFormat("email", text),
  "format uri": (text) => hasFormat("uri", text),
  "a schedule": parseCron,
  "a column's path": (text) => parseJsonPath(`{.a[${text}, ${text}]}`),
  "a content type": (text) => bodyFormat(`application/json;${text}`),
  "a page of a proxied pod": (text) => [...rewriteHTML(text, { prefix: "/p", hosts: [] })],
  "a field of a pod": (text) => validateFieldRef(path, { apiVersion: "v1", fieldPath: text }, []),
  "an iSCSI volume": (text) => validateVolumeSource(path, "iscsi", { iqn: text, targetPortal: "a" }, false),
  "a rule's URL": (text) =>
    ruleAllows({ verbs: ["get"], nonResourceURLs: [text] }, { ...reading, path: `${text.slice(0, -1)}y` }),
  "a container's argument": (text) => substitute(text, {}),
}

describe.each(Object.entries(readers))("%s", (_, read) => {
  test.each(Object.entries(texts))("of %s", (_name, text) => {
    expect(isAnswered(() => read(text))).toBe(true)
  })
})
