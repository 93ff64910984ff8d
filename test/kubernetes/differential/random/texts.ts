// Random texts that servers parse: selectors, queries and media types, from the characters that mean something in them.

import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { get, jsonPatch, patch, post, remove, type RequestStep, type Scenario, withQuery } from "../scenario.ts"
import { titled } from "./titled.ts"

const maps = "/api/v1/namespaces/@{ns}/configmaps"
const length = 60

export function randomTextScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = [
    ...["a", "b", "c"].map((name, index) =>
      post(maps, { metadata: { name, labels: { a: name, ...(index === 1 ? { "b.c/d": "1", e: "" } : {}) } } }),
    ),
    ...Array.from({ length }, () => pick(random, choices)(random)),
  ]
  return { name: `texts at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

const choices: readonly ((random: Random) => RequestStep)[] = [
  (random) => get(withQuery(maps, `labelSelector=${encodeURIComponent(labelSelector(random))}`)),
  (random) => get(withQuery(maps, `labelSelector=${encodeURIComponent(labelSelector(random))}`)),
  (random) => get(withQuery(maps, `fieldSelector=${encodeURIComponent(fieldSelector(random))}`)),
  (random) => get(withQuery(maps, query(random))),
  (random) => get(maps, { headers: { accept: mediaTypes(random) } }),
  (random) => get(`${maps}/a`, { headers: { accept: mediaTypes(random) } }),
  (random) => post(`${maps}?dryRun=All`, '{"metadata":{"name":"d"}}', { contentType: mediaType(random) }),
  (random) => remove(`${maps}/a?dryRun=All`, '{"kind":"DeleteOptions"}', { contentType: mediaType(random) }),
  (random) => {
    const type = chance(random, 0.5) ? `${jsonPatch}${parameters(random)}` : mediaType(random)
    return patch(`${maps}/a?dryRun=All`, type, [{ op: "test", path: "/metadata/name", value: "a" }])
  },
]

function joined(random: Random, parts: readonly string[], most: number): string {
  return Array.from({ length: 1 + random(most) }, () => pick(random, parts)).join("")
}

const selectorParts = [
  "a",
  "b.c/d",
  "e",
  "1",
  "in",
  "notin",
  "exists",
  "=",
  "==",
  "!=",
  "!",
  ">",
  "<",
  "(",
  ")",
  ",",
  " ",
]
const oddParts = [
  "\t",
  "\n",
  "\\",
  '"',
  "/",
  "-",
  "_",
  ".",
  "ü",
  "\u0000",
  "%",
  "&",
  "=>",
  "<=",
  "x".repeat(64),
  "{",
  "|",
]

function requirement(random: Random): string {
  const space = (): string => pick(random, ["", "", "", " ", "  ", "\t"])
  const key = pick(random, ["a", "b.c/d", "e", "none", "in", "notin", "-a", "a/b/c", "B.c/d", "A"])
  const word = (): string => pick(random, ["a", "b", "1", "", "in", "-1", "1.5", "b/c", "A_b", "0x1", "+1", "٣"])
  const words = Array.from({ length: random(4) }, word).join(`${space()},${space()}`)
  const between = (sign: string): string => `${key}${space()}${sign}${space()}${word()}`
  return pick(random, [
    () => `${pick(random, ["", "!", "! ", "!!"])}${key}`,
    () => between(pick(random, ["=", "==", "!=", "=", "=!", "===", "<>"])),
    () => between(pick(random, [">", "<", ">=", "<<"])),
    () => `${key} ${pick(random, ["in", "notin", "IN", "not in", "exists"])}${space()}(${space()}${words}${space()})`,
    () => `${key} ${pick(random, ["in", "notin"])} ${words}`,
  ])()
}

function labelSelector(random: Random): string {
  if (chance(random, 0.3))
    return joined(random, chance(random, 0.7) ? selectorParts : [...selectorParts, ...oddParts], 8)
  return Array.from({ length: 1 + random(2) }, () => requirement(random)).join(
    pick(random, [",", ",", " , ", ";", ",,"]),
  )
}

function fieldSelector(random: Random): string {
  const part = (): string =>
    pick(random, ["metadata.name", "metadata.namespace", "data", "metadata.name ", "", "Metadata.Name"]) +
    pick(random, ["=", "==", "!=", "", "===", "\\=", "=!", ">", " in "]) +
    pick(random, ["a", "@{ns}", "", "\\,", "\\=", "\\\\", "a\\", "a=b", "a,b", " a", "\\x", "(a)"])
  return Array.from({ length: 1 + random(2) }, part).join(pick(random, [",", ",", ", ", ";", ",,"]))
}

/** As it is sent: also with escapes that are none. */
export function query(random: Random): string {
  const value = (): string =>
    pick(random, [
      "1",
      "true",
      "a",
      "a%3Da",
      "%zz",
      "%",
      "+1",
      "1+",
      "%31",
      "a;b",
      "a%00",
      "01",
      "1_0",
      "0x1",
      "1e1",
      "T",
    ])
  const name = (): string =>
    pick(random, [
      "limit",
      "labelSelector",
      "watch",
      "pretty",
      "resourceVersion",
      "timeoutSeconds",
      "l%69mit",
      "Limit",
      "bogus",
      "",
      "limit%20",
      "allowWatchBookmarks",
    ])
  return Array.from({ length: 1 + random(3) }, () => name() + pick(random, ["=", "=", "=", "=", "", "=="]) + value())
    .filter((text) => !/^watch=+(1|true|%31|T)/.test(text))
    .join(pick(random, ["&", "&", "&", "&&", ";", "&;&"]))
}

const types = [
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/*",
  "*/*",
  "text/html",
  "application/cbor",
]

function parameters(random: Random): string {
  const one = (): string =>
    pick(random, [
      "charset=utf-8",
      "charset=latin1",
      'q="0.5"',
      "q=0.5",
      "q=0",
      "q=1.5",
      "q=x",
      "pretty=1",
      "as=Table",
      "v=v1",
      "g=meta.k8s.io",
      "as=Table;v=v1;g=meta.k8s.io",
      "as=Table;v=v1;g=meta.k8s.io",
      "as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
      "as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
      "AS=Table;V=v1;G=meta.k8s.io",
      "as=PartialObjectMetadata;v=v2;g=meta.k8s.io",
      "as=",
      "stream=watch",
      'a="b',
      "a=b c",
      "a",
      "=",
      "a=b;a=c",
      "a*=utf-8''x",
      "a*0=x;a*1=y",
      "",
    ])
  return Array.from({ length: random(3) }, () => pick(random, [";", ";", "; ", " ;", ";;"]) + one()).join("")
}

function mediaType(random: Random): string {
  const name = chance(random, 0.75)
    ? pick(random, types)
    : pick(random, [
        "application/JSON",
        "application",
        "application/",
        "/json",
        "json",
        "*",
        "*/json",
        "application/json/x",
        "a b/c",
        'applicati"on/json',
        "",
        "application/json,",
      ])
  return `${pick(random, ["", "", "", " "])}${name}${parameters(random)}`
}

/** Of an Accept header. */
export function mediaTypes(random: Random): string {
  return Array.from({ length: 1 + random(3) }, () => mediaType(random)).join(pick(random, [",", ",", ", ", ",,", ";"]))
}
