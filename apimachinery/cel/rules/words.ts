// Validates what a definition's rules say beside their expressions: messages, reasons and paths. Source:
// ValidateCustomResourceDefinitionOpenAPISchema in k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation.

import { trimSpace } from "../../texts.ts"
import { type FieldError, type FieldPath, invalidValue, notSupported, required } from "../../field-errors.ts"
import type { JsonObject } from "../../schema/json-object.ts"
import { formFault } from "../../schema/structural/form-fault.ts"
import { normalFieldPath } from "./field-path.ts"
import { type Rule, rulesOf } from "./rule.ts"

const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"]

/** `path`: that of the schema. Its subschemas are not validated. */
export function wordErrors(schema: JsonObject, path: FieldPath): FieldError[] {
  let known: boolean | undefined
  // Upstream accepts any path if there is no structure to check it against.
  const isStructural = (): boolean => (known ??= formFault(schema) === undefined)
  return rulesOf(schema).flatMap((rule, index) =>
    faultsOf(rule, schema, path.child("x-kubernetes-validations").index(index), isStructural),
  )
}

function faultsOf(rule: Rule, schema: JsonObject, path: FieldPath, isStructural: () => boolean): FieldError[] {
  const errors: FieldError[] = []
  const [text, message] = [trimSpace(rule.rule), trimSpace(rule.message)]
  if (text === "") errors.push(required(path.child("rule"), "rule is not specified"))
  else if (rule.message !== "" && message === "") {
    errors.push(invalidValue(path.child("message"), rule.message, "must be non-empty if specified"))
  } else if (hasLineBreaks(message)) {
    errors.push(invalidValue(path.child("message"), rule.message, "must not contain line breaks"))
  } else if (hasLineBreaks(text) && message === "") {
    errors.push(required(path.child("message"), "message must be specified if rule contains line breaks"))
  }
  if (rule.messageExpression !== "" && trimSpace(rule.messageExpression) === "") {
    errors.push(required(path.child("messageExpression"), "messageExpression must be non-empty if specified"))
  }
  if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
    errors.push(notSupported(path.child("reason"), rule.reason, reasons))
  }
  if (rule.fieldPath === "") return errors
  const at = path.child("fieldPath")
  if (trimSpace(rule.fieldPath) === "") errors.push(invalidValue(at, rule.fieldPath, "must be non-empty if specified"))
  if (hasLineBreaks(rule.fieldPath)) errors.push(invalidValue(at, rule.fieldPath, "must not contain line breaks"))
  if (normalFieldPath(rule.fieldPath, schema) === undefined && isStructural())
    errors.push(invalidValue(at, rule.fieldPath, "must be a valid path"))
  return errors
}

function hasLineBreaks(text: string): boolean {
  return /[\n\r]/.test(text)
}
