// The hash of a template: pod-template-hash and the suffix of ControllerRevisions. It is the same in all processes and versions,
// because it is computed from the wire format with sorted fields. The alphabet is upstream's (no vowels, and no digits that look
// like them): k8s.io/apimachinery/pkg/util/rand.SafeEncodeString.

const alphabet = "bcdfghjklmnpqrstvwxz2456789"

export function hashOf(value: unknown, collisionCount: number | undefined): string {
  let hash = fnv1a(canonical(value))
  if (collisionCount !== undefined) hash = fnv1a(String(collisionCount), hash)
  return safeEncode(String(hash))
}

function safeEncode(text: string): string {
  let safe = ""
  for (let index = 0; index < text.length; index++) safe += alphabet[text.charCodeAt(index) % alphabet.length] ?? ""
  return safe
}

/** FNV-1a, 32 bits, over UTF-16 code units. */
function fnv1a(text: string, from = 0x811c9dc5): number {
  let hash = from
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}

/** JSON with sorted fields, so that equal values have equal texts. */
export function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null)
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  const fields = value as Readonly<Record<string, unknown>>
  let text = ""
  for (const name of Object.keys(fields).sort()) {
    const field = fields[name]
    if (field !== undefined && field !== null)
      text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${canonical(field)}`
  }
  return `{${text}}`
}
