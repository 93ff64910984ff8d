// The form of a configuration: which fields there are, and of which type. Upstream reads it strictly, so that a misspelt restriction is
// not none.

import { type FieldError, type FieldPath, invalidValue, omitted } from "../../../apimachinery/field-errors.ts"
import { ownValue } from "../../../apimachinery/schema/json-object.ts"

type Form =
  | { type: "text" }
  | { type: "list"; items: Form }
  | { type: "record"; fields: Readonly<Record<string, Form>> }

export const text: Form = { type: "text" }
export const list = (items: Form): Form => ({ type: "list", items })
export const record = (fields: Readonly<Record<string, Form>>): Form => ({ type: "record", fields })

/** Null has every form. */
export function faultsOfForm(at: FieldPath, value: unknown, form: Form): FieldError[] {
  if (value === undefined || value === null) return []
  const wrong = (detail: string): FieldError[] => [invalidValue(at, omitted, detail)]
  switch (form.type) {
    case "text":
      return typeof value === "string" ? [] : wrong("must be a text")
    case "list":
      if (!Array.isArray(value)) return wrong("must be a list")
      return value.flatMap((item, index) => faultsOfForm(at.index(index), item, form.items))
    case "record":
      if (typeof value !== "object" || Array.isArray(value)) return wrong("must be a mapping")
      return Object.entries(value).flatMap(([name, field]) => {
        const known = ownValue(form.fields, name)
        return known === undefined
          ? [invalidValue(at.child(name), omitted, "unknown field")]
          : faultsOfForm(at.child(name), field, known)
      })
  }
}

/** What has this form, without null: as in Go, a field that is null is absent, and a null in a list is an empty value of its type. */
export function withoutNulls(value: unknown, form: Form): unknown {
  if (value === null) return form.type === "text" ? "" : form.type === "list" ? [] : {}
  if (form.type === "list") return (value as unknown[]).map((item) => withoutNulls(item, form.items))
  if (form.type === "text") return value
  const fields = Object.entries(value as object).filter(([, field]) => field !== null)
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(field, form.fields[name] ?? text)]))
}
