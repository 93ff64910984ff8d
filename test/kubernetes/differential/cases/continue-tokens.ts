// Tokens that no list has made: what they hold is read as Go reads a struct, and the revision may not be there yet.

import { get, post, type RequestStep, type Scenario } from "../scenario.ts"

const maps = "/api/v1/namespaces/@{ns}/configmaps"
const v = "meta.k8s.io/v1"
const start = "a\0"

const tokens: readonly (object | string)[] = [
  { v, rv: -1, start },
  { V: v, Rv: -1, START: start },
  { v, rv: -1, start: "/" },
  { v, rv: -1, start: "//" },
  { v, rv: -1, start: "a/" },
  { v, rv: -1, start: "/a/../b" },
  { v, rv: -1, start: "" },
  { v, rv: null, start: null },
  { v: null },
  { v: 1, rv: "1", start: 1 },
  { rv: "1", v: true, start: [] },
  { v, rv: 1.5, start },
  { v, rv: {}, start },
  { v, rv: -1, start, more: { rv: 1 } },
  { v: "v1", rv: -1, start },
  { v, rv: 99999999, start },
  `{"v":"${v}","rv":9223372036854775807,"start":"a"}`,
  `{"v":"${v}","rv":9223372036854775808,"start":"a"}`,
  `{"v":"${v}","rv":1e1,"start":"a"}`,
  `{"v":"${v}","rv":1,"rv":-1,"start":"a\\u0000"}`,
  "1",
  '"a"',
  "[]",
  "null",
  "{",
]

export function continueTokenCases(): Scenario[] {
  return [
    {
      name: "lists are continued with tokens that none has made",
      steps: [...["a", "b"].map((name) => post(maps, { metadata: { name } })), ...tokens.flatMap(lists)],
    },
  ]
}

function lists(token: object | string): RequestStep[] {
  const text = typeof token === "string" ? token : JSON.stringify(token)
  const encoded = Buffer.from(text).toString("base64url")
  return ["", "&limit=1", "&fieldSelector=metadata.name%3Db"].map((more) =>
    get(`${maps}?continue=${encoded}${more}`, { label: `LIST after ${text}${more}` }),
  )
}
