// YAML as goyaml reads it: what words stand for, what keys become, merges, aliases, tags, several documents, and texts by chance.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, patch, post, type RequestStep, type Scenario } from "../scenario.ts"
import { randomYaml } from "../random/yaml-texts.ts"
import { definitionOf, definitions } from "./things.ts"

export function yamlCases(): Scenario[] {
  return [
    { name: "words of YAML are values of a custom resource", steps: values(words.map((word) => `a: ${word}`)) },
    { name: "words of YAML are keys of a custom resource", steps: values(words.map((word) => `${word}: a`)) },
    { name: "words of YAML are labels, data and applied", steps: ofConfigMaps() },
    { name: "a custom resource in YAML has merges, aliases and keys of every kind", steps: values(structures) },
    { name: "YAML has directives, several documents and marks", steps: whole(documents) },
    { name: "YAML is written in UTF-16", steps: inUnits() },
    { name: "words of YAML are read as YAML", steps: read() },
    ...[1, 2].map((seed) => ({
      name: `a custom resource in YAML by chance, seed ${seed}`,
      steps: values(randomYaml(seed)),
    })),
  ]
}

const yaml = "application/yaml"
const group = "y@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`
const any = { type: "object", "x-kubernetes-preserve-unknown-fields": true }
const version = { schema: { openAPIV3Schema: { type: "object", properties: { spec: any } } } }

const words = [
  ["y", "Yes", "yEs", "n", "NO", "on", "Off", "TRUE", "tRue", "~", "Null", "nULL", ".nan", ".Inf", "-.inf", "+.iNf"],
  ["0", "00", "017", "08", "0o17", "0b101", "-0b11", "0b-11", "0x1F", "-0x1f", "0x", "1_000", "_1", "1__0", "+1", "-"],
  ["1.", "-1.5", ".5", "-.5", ".e3", ".", "1e3", "1e-7", "1.5e400", "-0", "-0.0", "1.0", "100000000000000000000"],
  ["9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "0x10000000000000000"],
  ["1:30", "190:20:30.5", "2001-01-01", "2001-01-01T00:00:00Z", "=", "a:b", "a#b", "a #b", "@x", "`x", "%x", "a\tb"],
  [
    "!!str 1",
    "!!int '1'",
    "!!int x",
    "!!int 1.5",
    "!!float 1",
    "!!float x",
    "!!bool yes",
    "!!bool 1",
    "!!null x",
    "!!str",
  ],
  ["!!binary YQ==", "!!binary 'YQ'", "!!binary 4oI=", "!!timestamp 2001-01-01", "!!timestamp 2001-02-30", "!!map {}"],
  [
    "!!set {a, b}",
    "!x y",
    "!<tag:yaml.org,2002:int> 1",
    "! 1",
    "!!x 1",
    "!e!x 1",
    "!<x",
    "!%ff b",
    "&a",
    "&a b",
    "*a",
    "*",
  ],
  [
    "'a''b'",
    '"\\u0041\\x41\\U0001F600"',
    '"\\ud83d"',
    '"\\/"',
    "'a",
    '"a',
    "[-]",
    "[- a]",
    "[a, -]",
    "[?]",
    "[? ]",
    "[: a]",
  ],
  [
    "[a:b]",
    "{a:b}",
    '{"a":b}',
    "{a, b}",
    "{,}",
    "[a,,b]",
    "[a,]",
    "{a: b,}",
    "[a b]",
    "[a: b, ? c]",
    "|",
    "|x",
    "|0",
    "|1-",
  ],
].flat()

const structures = [
  "a: &x {b: c}\nd: {<<: *x, e: f}",
  "a: &x {b: c}\nd: {b: 1, <<: *x}\ne: {<<: *x, b: 1}",
  "a: &x {b: c}\ny: &y {b: d, e: f}\nd: {<<: [*x, *y]}",
  "a: &x 1\nd: {<<: *x}",
  "d: {<<: [1]}",
  "d: {'<<': {a: b}, ! <<: {a: b}}",
  "d: {!!merge <<: {a: b}}",
  "a: &a [*a]",
  "a: &a b\nc: *a\nd: *b",
  "a: 1\na: 2\na: 3",
  "a:\n  b: 1\n  b: 2\nc:\n- d: 1\n  d:\n    2\na: 3",
  "1: a\nyes: c\n1.5: d\n1e6: e\n0.1: f\n.inf: g",
  "1.0: b\n1e300: h", // would be the same keys: upstream takes either value
  "~: a",
  "18446744073709551615: a",
  "? [a]\n: b",
  "? {a: b}\n: c",
  "? |\n  a\n: b",
  "a: |\n   x\n  y\n",
  "a: |2\n   x\n\n  y\n\n",
  "a: >\n  x\n  y\n\n  z\n   w\n  v",
  "a: >-\n  x\n\n",
  "a: |+\n  x\n\n",
  "a: |\n\tx",
  "a: 'x\n\n  y'\nb: \"x\\\n  y\\n\"",
  "a: x\n  y\n\n  z",
  "a:\n\tb",
  "a:\n \tb: c",
  "a: \tb",
  "-\ta",
  "a:\n- b\n-c\n",
  "a:\n- b\n - c\n",
  "a:\n  - b\n - c\n",
  "a: b\n c: d",
  "a: b\r\nc: d\re: f\u0085g: h\u2028i: j",
  "\u{1f600}: {a: \u{1f600}}",
  "? a\n? b\n: c\n: d",
  "{}: a",
  `${"x".repeat(1100)}: a`,
]

const object = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
const documents = [
  `${object}---\n[`,
  `${object}...\n[`,
  `---\n${object}---\na: b\n`,
  `--- # c\n${object}`,
  `...\n${object}`,
  `\ufeff${object}`,
  `# c\n\n${object}# d`,
  `%YAML 1.1\n---\n${object}`,
  `%YAML 1.2\n---\n${object}`,
  `%YAML 1.1\n%YAML 1.1\n---\n${object}`,
  `%TAG !e! tag:yaml.org,2002:\n---\n${object}data:\n  a: !e!str 1\n`,
  `%TAG !e! x\n%TAG !e! y\n---\n${object}`,
  `%FOO bar\n---\n${object}`,
  `%\n---\n${object}`,
  `${object}%YAML 1.1\n`,
  "---",
  "--- a",
  "# c",
]

function define(): RequestStep[] {
  return [post(definitions, definitionOf(group, {}, version) as Json), get(things, { untilCode: 200 })]
}

function values(texts: readonly string[]): RequestStep[] {
  return [
    ...define(),
    ...texts.map((text) => {
      const spec = text.replaceAll(/^(?=.)/gm, "  ")
      const body = `apiVersion: ${group}/v1\nkind: Thing\nmetadata:\n  name: a\nspec:\n${spec}\n`
      return post(`${things}?dryRun=All`, body, { contentType: yaml, label: `POST ${JSON.stringify(text)}` })
    }),
  ]
}

const maps = "/api/v1/namespaces/@{ns}/configmaps"

function whole(texts: readonly string[]): RequestStep[] {
  return texts.map((text) =>
    post(`${maps}?dryRun=All`, text, { contentType: yaml, label: `POST ${JSON.stringify(text)}` }),
  )
}

function ofConfigMaps(): RequestStep[] {
  return words.flatMap((word) => [
    post(`${maps}?dryRun=All`, `${object}  annotations:\n    a: ${word}\n`, {
      contentType: yaml,
      label: `POST ${word}`,
    }),
    post(`${maps}?dryRun=All`, `${object}data:\n  ${word}: a\n`, { contentType: yaml, label: `POST key ${word}` }),
    patch(`${maps}/a?dryRun=All&fieldManager=m`, applyPatch, `${object}data:\n  a: ${word}\n`, {
      label: `APPLY ${word}`,
    }),
  ])
}

/** Without what upstream prints so that it is read as something else, such as U+0085, or cannot print, such as U+007F. */
function read(): RequestStep[] {
  const texts = [...words.filter((word) => !tooLarge.has(word)), "<<", "", "\u2028", "\ufeff", " a", "a\n", "\ta"]
  const data = Object.fromEntries(texts.map((text, index) => [`k${index}`, text]))
  const accept = { headers: { accept: yaml } }
  return [post(maps, { metadata: { name: "a", annotations: data }, data }), get(`${maps}/a`, accept), get(maps, accept)]
}

/** Numbers that Go cannot hold, and so does not quote. */
const tooLarge: ReadonlySet<string> = new Set(["1.5e400", "0x10000000000000000"])

const mark = "\ufeff"
const map = (name: string, more = ""): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  a: "é中😀"\n${more}`
const unitTexts = [
  mark + map("a", "  b: |\n    x\n    ü\n"),
  `${mark}{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}`,
  mark,
  map("a"),
  `${mark}a: \ud800x`,
  `${mark}a: \udc00`,
  `${mark}a: \ud83d`,
  `${mark}a: \u0001`,
  `${mark}a: \ufffe`,
  `${mark}a: [`,
]

function inUnits(): RequestStep[] {
  const maps = "/api/v1/namespaces/@{ns}/configmaps"
  return (["utf16le", "utf16be"] as const).flatMap((encoding) =>
    unitTexts.flatMap((text, index) => [
      post(`${maps}?dryRun=All`, text, { contentType: yaml, encoding, label: `POST ${index} in ${encoding}` }),
      patch(`${maps}/a?dryRun=All&fieldManager=m`, applyPatch, text, {
        encoding,
        label: `APPLY ${index} in ${encoding}`,
      }),
    ]),
  )
}
