// Ratcheting: existing errors in unchanged values are accepted. Source:
// k8s.io/apiextensions-apiserver/pkg/apiserver/validation/ratcheting.go.

import {
  type Correlation,
  fieldCorrelation,
  itemCorrelation,
  typeFields,
  UntouchedParts,
} from "../../apimachinery/cel/rules/correlation.ts"
import type { FieldError, FieldPath } from "../../apimachinery/field-errors.ts"
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
  const places = new Places()
  const placesOfErrors = errors.map((error) => places.at(owners.get(error) ?? error.path))
  const root = { value: object as unknown as Json, old: current as unknown as Json, schema }
  const untouched = new UntouchedParts()
  // The object itself has changed, otherwise this would not be called.
  const names = ofStatus ? ["status"] : Object.keys(object).filter((name) => !typeFields.has(name))
  for (const name of names)
    collect(fieldCorrelation(root, name), places.root.fields(name, false), { untouched, ofStatus })
  return errors.filter((_, index) => !isUnchanged(placesOfErrors[index]))
}

/** A place with errors, or one that such a place is within. */
class Place {
  readonly outer: Place | undefined
  isUnchanged = false
  readonly #fields = new Map<string, Place>()
  readonly #entries = new Map<string, Place>()

  constructor(outer?: Place) {
    this.outer = outer
  }

  /** Made if it is not known. */
  within({ name, inBrackets }: FieldPath["step"]): Place {
    const inner = inBrackets ? this.#entries : this.#fields
    let place = inner.get(name)
    if (place === undefined) inner.set(name, (place = new Place(this)))
    return place
  }

  /** An entry of a map can be written in two ways. */
  fields(name: string, isMap: boolean): Place[] {
    return [this.#fields.get(name), isMap ? this.#entries.get(name) : undefined].filter((one) => one !== undefined)
  }

  item(index: number): Place[] {
    const place = this.#entries.get(String(index))
    return place === undefined ? [] : [place]
  }
}

/** Itself, or what it is within. */
function isUnchanged(place: Place | undefined): boolean {
  for (let at = place; at !== undefined; at = at.outer) if (at.isUnchanged) return true
  return false
}

/** By paths, not by their texts: with long names, those of many errors would not fit into memory. */
class Places {
  readonly root = new Place()
  readonly #known = new Map<FieldPath, Place>()

  at(path: FieldPath | undefined): Place {
    const steps: FieldPath[] = []
    let known = path
    for (; known !== undefined && !this.#known.has(known); known = known.parent) steps.push(known)
    let place = (known && this.#known.get(known)) ?? this.root
    for (const each of steps.toReversed()) {
      // The path of the whole object has no name.
      const isRoot = each.parent === undefined && each.step.name === ""
      if (!isRoot) place = place.within(each.step)
      this.#known.set(each, place)
    }
    return place
  }
}

interface Search {
  untouched: UntouchedParts
  /** The value is a status that was validated by itself, so upstream considers its kind and apiVersion those of an object. */
  ofStatus?: boolean
}

/** Examines only places with errors and what they are within. */
function collect(at: Correlation | undefined, places: readonly Place[], { untouched, ofStatus = false }: Search): void {
  if (at === undefined || places.length === 0) return
  const { value, schema } = at
  if (untouched.has(at)) {
    for (const place of places) place.isUnchanged = true
  } else if (Array.isArray(value)) {
    for (const index of value.keys()) {
      const below = places.flatMap((place) => place.item(index))
      if (below.length > 0) collect(itemCorrelation(at, index), below, { untouched })
    }
  } else if (isObject(value)) {
    const isMap = isObject(schema["additionalProperties"])
    for (const name of Object.keys(value)) {
      if (ofStatus && typeFields.has(name)) continue
      const below = places.flatMap((place) => place.fields(name, isMap))
      if (below.length > 0) collect(fieldCorrelation(at, name), below, { untouched })
    }
  }
}
