// Sets that were collected in any order, in the order of their serialization: that of compareElements, and the place itself first.

import { sortingTexts, sortTexts } from "../go/text-order.ts"
import { mostAtOnce, type Steps } from "../steps.ts"
import { compareElements, type PathElement, self, sortElements, sortingElements } from "./path-element.ts"

/** A set under construction. */
type Draft<T> = { [element: PathElement]: T }

export function inOrder<T>(draft: Draft<T>): Draft<T> {
  let last: PathElement | undefined
  for (const element in draft) {
    if (last !== undefined && compareElements(last, element) > 0) return sorted(draft)
    last = element
  }
  return draft
}

/** inOrder() in steps, where there are many. */
export function* puttingInOrder<T>(draft: Draft<T>): Steps<Draft<T>> {
  let count = 0
  for (const _ in draft) count++
  if (count <= mostAtOnce) return inOrder(draft)
  return (yield* findingOrder(draft)) ? draft : yield* sorting(draft)
}

/** Whether it is in order. */
function* findingOrder(draft: Draft<unknown>): Steps<boolean> {
  let last: PathElement | undefined
  let count = 0
  for (const element in draft) {
    if (++count % mostAtOnce === 0) yield
    if (last !== undefined && compareElements(last, element) > 0) return false
    last = element
  }
  return true
}

function sorted<T>(draft: Draft<T>): Draft<T> {
  const elements = elementsOf(draft)
  if (areFields(elements)) sortTexts(elements)
  else sortElements(elements)
  const result = begun(draft)
  for (const element of elements) move(element, draft, result)
  return result
}

function* sorting<T>(draft: Draft<T>): Steps<Draft<T>> {
  const elements = elementsOf(draft)
  yield* areFields(elements) ? sortingTexts(elements) : sortingElements(elements)
  const result = begun(draft)
  for (const [index, element] of elements.entries()) {
    if (index % mostAtOnce === mostAtOnce - 1) yield
    move(element, draft, result)
  }
  return result
}

function move<T>(element: PathElement, from: Draft<T>, to: Draft<T>): void {
  const place = from[element]
  if (place !== undefined) to[element] = place
}

/** The place itself comes first. */
const begun = <T>({ [self]: place }: Draft<T>): Draft<T> => (place === undefined ? {} : { [self]: place })

/** Without the place itself. */
function elementsOf(draft: Draft<unknown>): PathElement[] {
  const elements = Object.keys(draft)
  const at = elements.indexOf(self)
  if (at >= 0) elements.splice(at, 1)
  return elements
}

/** Fields sort like their texts. */
const areFields = (elements: readonly PathElement[]): boolean => elements.every((element) => element[0] === "f")
