// What upstream writes in the order of its maps, which differs each time.

import type { KubeObject } from "../../../apimachinery/object.ts"

const autoscalers = /(?<=multiple HPAs: \[)[^\]]*/g

export const inOrder = (text: string): string =>
  text.replaceAll(autoscalers, (list) => list.split(" ").sort().join(" "))

/** Nothing has changed but an order. Two autoscalers of the same pods would not come to rest for a minute and more. */
export function isReordered(object: KubeObject, previous: KubeObject): boolean {
  const text = ({ metadata, ...rest }: KubeObject): string => {
    const { resourceVersion: _, managedFields: __, ...kept } = metadata
    return JSON.stringify({ ...rest, metadata: kept })
  }
  const [after, before] = [text(object), text(previous)]
  return after !== before && inOrder(after) === inOrder(before)
}
