// Rules that are no expressions: where the fault is, what was expected, and what is found after it.

import type { Json } from "../../../../apimachinery/object.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"
import { definitions } from "./things.ts"

const group = "rs@{id}.example.com"

export function ruleSyntaxCases(): Scenario[] {
  return [{ name: "a definition has rules that are no expressions", steps: faults() }]
}

const expressions = [
  ..."self.x > |self.x = 1|self..x|'abc|\"abc|self.x &&|(self.x|self.x)|a b|[1,2|{a:}|{'a':}|self.x == 1;|self['x'".split(
    "|",
  ),
  ..."!|!)|!&|! == 1|!(|[!]|[!, 1]|-|- |-!1|-)|(-)|-(|- -|--|[-]|[-, 1]|{-: 1}|1 + -|1 - - !x|a.b(-)".split("|"),
  ..."in|1 in|in [1]|in in in|(in)|[in]|a.in|a.in.b|a.in(b)|a.?|a.?1|a.?in|a.?b(|a.?b.?|a[?|a[?]|self.?x|?x".split("|"),
  ..."==|== 1|1 ==|== ==|1 == == 1|1 ** 2|1 * * * 2|1 + + 2|1 < < 2|1 < 2 < 3|(==)|(== 1)|[==]|[1 ==]|{1: ==}|f(==)".split(
    "|",
  ),
  "|| ||",
  "a || ||",
  "a || || b",
  "a && || b",
  "a ||",
  "|| a",
  "a | b",
  ..."self.x ? 1|self.x ? 1 :|self.x ? : 1|self.x ? self.y ? 1 : 2|? :|a ? b : c : d|(a ? )|[a ? b]".split("|"),
  ..."()|(()|(((|)))|[]|[[[|]]]|{}|{{{|}}}|(])|[(])|{[}|(|)|[|]|{|}|a(|a)|a[|a]|a{|a}|a.b{|a.b{c|a.b{c:|a.b{c:1".split(
    "|",
  ),
  ..."[,1]|[1,]|[1,,2]|[1 2]|[,]|[,,]|{1 2}|{1:2 3:4}|{1:2,}|{,}|{1:}|{:1}|{1}|f(,1)|f(1,)|f(1 2)|f(,)|a{1:2}|a{b c}".split(
    "|",
  ),
  ..."has(|has()|has(self)|has(self.x|has(self.x,1)|self.all(|self.all()|self.l.all(x)|self.l.all(x, )|self.l.map(".split(
    "|",
  ),
  ..."'\\q'|'\\u12'|b'|r'\\|\"\"\"|0x|0xg|1e|1e+|1.|.5.|1u2|08|1.2.3|self.x == $|self.x == #|@|self@x|\\|`a`|self.`x y`".split(
    "|",
  ),
  ..."self.for|for|if|null.x|true()|true false|1 2 3|package|self.é|'é' == é|é|self.x == 1 // c|self.x == “a”|'a' 'b'".split(
    "|",
  ),
  ..."self.|.self|.|..|.1.|self[|self[]|self()|self.x(|self.x(1|self.x(1,|a.b.c(d).e[f|self.x, self.y|self.x: 1|,|:|;".split(
    "|",
  ),
  "'a\nb'",
  "self.x == 1\n&& &&",
  "self.x ==\n1 1",
  " ",
  "\t",
]

function faults(): RequestStep[] {
  return expressions.map((rule) => {
    const properties = {
      x: { type: "integer" },
      y: { type: "boolean" },
      l: { type: "array", maxItems: 5, items: { type: "integer" } },
    }
    const spec = { type: "object", properties, "x-kubernetes-validations": [{ rule }] }
    const schema = { openAPIV3Schema: { type: "object", properties: { spec } } }
    const names = { plural: "things", kind: "Thing" }
    const versions = [{ name: "v1", served: true, storage: true, schema }]
    const definition = { metadata: { name: `things.${group}` }, spec: { group, scope: "Namespaced", names, versions } }
    return post(`${definitions}?dryRun=All`, definition as unknown as Json, { label: `POST ${JSON.stringify(rule)}` })
  })
}
