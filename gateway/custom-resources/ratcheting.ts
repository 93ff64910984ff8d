// Ratcheting: existing errors in unchanged values are accepted. Source:
// k8s.io/apiextensions-apiserver/pkg/apiserver/validation/ratcheting.go.

import {
  type Correlation,
  fieldCorrelation,
  isUntouched,
  itemCorrelation,
  typeFields,
} from "../../apimachinery/cel/rules/correlation.ts"
import { type FieldError, FieldPath } from "../../apimachinery/field-errors.ts"
import type { Json, KubeObject } from "../../apimachinery/object.ts"
import { isObject } from "../../apimachinery/schema/json-object.ts"
import type { Faults } from "../../apimachinery/schema/validate.ts"

/** Filters out errors in unchanged values. `ofStatus`: only the status was validated, by itself. */
export function newErrors(
  { errors, owners }: Faults,
  object: KubeObject,
  current: KubeObject,
  schema: Json | undefined,
  ofStatus = false,
): FieldError[] {
  if (errors.length === 0 || !isObject(schema)) return [...errors]
  const placesOfError = (error: FieldError): string[] => placesOf(owners.get(error) ?? error.field)
  const asked = new Set(errors.flatMap(placesOfError))
  const unchanged = new Set<string>()
  const root = { value: object as unknown as Json, old: current as unknown as Json, schema }
  // The object itself has changed, otherwise this would not be called.
  const names = ofStatus ? ["status"] : Object.keys(object).filter((name) => !typeFields.has(name))
  for (const name of names)
    collect(fieldCorrelation(root, name), [FieldPath.root(name)], { asked, unchanged, ofStatus })
  return errors.filter((error) => !placesOfError(error).some((place) => unchanged.has(place)))
}

interface Search {
  asked: ReadonlySet<string>
  unchanged: Set<string>
  /** The value is a status that was validated by itself, so upstream considers its kind and apiVersion those of an object. */
  ofStatus?: boolean
}

/** Examines only places with errors and their ancestors. `paths`: an entry of a map can be written in two ways. */
function collect(at: Correlation | undefined, paths: readonly FieldPath[], search: Search): void {
  const { asked, unchanged, ofStatus = false } = search
  const places = paths.filter((path) => asked.has(path.toString()))
  if (at === undefined || places.length === 0) return
  const { value, schema } = at
  const within = { asked, unchanged }
  if (isUntouched(at)) {
    for (const place of places) unchanged.add(place.toString())
  } else if (Array.isArray(value)) {
    for (const index of value.keys()) {
      const below = places.map((path) => path.index(index))
      collect(itemCorrelation(at, index), below, within)
    }
  } else if (isObject(value)) {
    const isMap = isObject(schema["additionalProperties"])
    for (const name of Object.keys(value)) {
      if (ofStatus && typeFields.has(name)) continue
      const below = places.flatMap((path) => [path.child(name), ...(isMap ? [path.key(name)] : [])])
      collect(fieldCorrelation(at, name), below, within)
    }
  }
}

/** The path of the field and of its ancestors. */
function placesOf(field: string): string[] {
  const places = [field]
  for (let end = field.length - 1; end > 0; end--) {
    if (field[end] === "." || field[end] === "[") places.push(field.slice(0, end))
  }
  return places
}
