// A webhook or a policy may make an object larger, and a tenant may have thousands of them: it must not grow until it is stored.

import { requestEntityTooLarge } from "../../apimachinery/status.ts"

/** Characters and values: more than a body has room for. Beyond: 413. */
const maxSize = 4 * 1024 * 1024

export function checkObjectSize(object: object): void {
  let size = 0
  const visit = (value: unknown): void => {
    size += typeof value === "string" ? 1 + value.length : 1
    if (size > maxSize) throw requestEntityTooLarge("Request entity too large: admission made the object too large")
    if (typeof value !== "object" || value === null) return
    for (const [name, inner] of Object.entries(value)) {
      size += name.length
      visit(inner)
    }
  }
  visit(object)
}
