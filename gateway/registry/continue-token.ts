// Where a list in pages goes on: the revision all pages are read at, and the last key of the page before. Opaque to
// clients; the text is upstream's (base64url of JSON), so that its tools can look at it.
// Source: k8s.io/apiserver/pkg/storage/continue.go.

import { badRequest } from "../../apimachinery/status.ts"

export interface ContinueToken {
  /** Undefined: go on at the latest revision, knowing that the pages do not fit together (the token a 410 offers). */
  revision: number | undefined
  /** Below the resource's prefix. */
  after: string
}

const version = "meta.k8s.io/v1"

export function encodeContinue({ revision, after }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: version, rv: revision ?? -1, start: `${after}\0` })).toString("base64url")
}

export function decodeContinue(text: string): ContinueToken {
  const fail = (detail: string) => badRequest(`invalid continue token: continue key is not valid: ${detail}`)
  let token: { v?: unknown; rv?: unknown; start?: unknown }
  try {
    token = JSON.parse(Buffer.from(text, "base64url").toString()) as typeof token
  } catch (error) {
    throw badRequest(fail("it is not what a list has given out").message, { cause: error })
  }
  const { v, rv, start } = token ?? {}
  if (v !== version) throw fail(`server does not recognize this encoded version "${String(v)}"`)
  if (typeof rv !== "number" || !Number.isSafeInteger(rv) || rv === 0)
    throw fail("incorrect encoded start resourceVersion")
  if (typeof start !== "string" || start === "") throw fail("encoded start key empty")
  return { revision: rv < 0 ? undefined : rv, after: start.endsWith("\0") ? start.slice(0, -1) : start }
}
