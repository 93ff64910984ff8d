import { expect, test } from "vitest"
import { decodeContinue } from "./continue-token.ts"

const v = "meta.k8s.io/v1"
const decode = (text: string) => decodeContinue(Buffer.from(text).toString("base64url"))

test.each([
  [`{"V":"${v}","Rv":-1,"START":"a\\u0000","more":[{"rv":1}]}`, { revision: undefined, after: "a" }],
  [`{"v":"${v}","rv":-1,"start":"/"}`, { revision: undefined, after: "" }],
  [
    `{"v":"${v}","rv":9223372036854775807,"start":"a\\u0000","remaining":2}`,
    { revision: 2 ** 63, written: "9223372036854775807", after: "a", remaining: 2 },
  ],
])("the token %s is read as Go reads a struct", (text, token) => {
  expect(decode(text)).toEqual(token)
})

test.each([
  [
    `{"v":"${v}","rv":1.5,"start":1}`,
    "cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64",
  ],
  [`{"start":1,"rv":1.5}`, "cannot unmarshal number into Go struct field continueToken.start of type string"],
  [`{"v":"${v}","rv":1e1}`, "cannot unmarshal number 1e1 into Go struct field continueToken.rv of type int64"],
  [`{"v":"${v}","rv":null,"start":null}`, "incorrect encoded start resourceVersion"],
  [`{"v":"${v}","rv":-1,"start":"//"}`, "continue key is not valid: //"],
  ["1", "cannot unmarshal number into Go value of type storage.continueToken"],
])("the token %s is refused as by Go", (text, message) => {
  expect(() => decode(text)).toThrow(message)
})
