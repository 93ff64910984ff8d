// Names that definitions of one group want as another kind of name than before: as singular instead of short name, as the other's, or
// one that is a plural. Upstream's controllers decide a moment after a write, so another definition is renamed and waited for.

import { get, type RequestStep, type Scenario } from "../scenario.ts"
import { group, kind, type Names, read, rename } from "./definition-lives.ts"

type Renaming = readonly [plural: "as" | "bs", names: Names]

export function definitionNameRoleCases(): Scenario[] {
  return [
    { name: "short names of kinds become other names", steps: lives(...shortNames), anyOrder: true },
    { name: "names of kinds exchange their roles", steps: lives(...exchanged), anyOrder: true },
    { name: "lists of kinds exchange names with kinds", steps: lives(...lists), anyOrder: true },
    { name: "plurals of kinds are wanted as other names", steps: lives(...plurals), anyOrder: true },
  ]
}

/** The names of both definitions when they are made, and then what they are renamed to. */
type Life = readonly [as: Names, bs: Names, ...Renaming[]]

const shortNames: Life = [
  { kind: "A", singular: "a", shortNames: ["x"] },
  { kind: "B", singular: "b", shortNames: ["as", "y"] },
  ["bs", { shortNames: ["y"] }],
  ["as", { singular: "z", shortNames: ["a"] }],
  ["bs", { singular: "x", shortNames: ["b"] }],
  ["as", { singular: "b", shortNames: ["z"] }],
  ["bs", { singular: "y", shortNames: null }],
]

const exchanged: Life = [
  { kind: "A", singular: "one", shortNames: ["two"] },
  { kind: "B", singular: "three", shortNames: ["four"] },
  ["as", { singular: "two", shortNames: ["one"] }],
  ["as", { singular: "three", shortNames: ["four"] }],
  ["bs", { singular: "one", shortNames: ["two"] }],
  ["as", { singular: "four", shortNames: ["three"] }],
]

const lists: Life = [
  { kind: "A", listKind: "L" },
  { kind: "B", listKind: "M" },
  ["as", { kind: "L", listKind: "A" }],
  ["as", { kind: "B", listKind: "M" }],
  ["bs", { kind: "A", listKind: "L" }],
  ["as", { kind: "C", listKind: "B" }],
  ["bs", { kind: "M", listKind: "C" }],
]

const plurals: Life = [
  { kind: "A", singular: "bs", shortNames: ["x"] },
  { kind: "B", singular: "b", shortNames: ["y"] },
  ["as", { singular: "c" }],
  ["bs", { singular: "as" }],
  ["as", { shortNames: ["bs"] }],
  ["bs", { shortNames: ["as"] }],
  ["as", { shortNames: ["q"] }],
  ["as", { shortNames: ["x"], singular: "x" }],
]

function lives(as: Names, bs: Names, ...renamings: Renaming[]): RequestStep[] {
  return [
    kind("markers", { kind: "Marker" }),
    kind("as", as),
    ...settled(0),
    kind("bs", bs),
    ...settled(1),
    ...renamings.flatMap(([plural, names], index) => [rename(plural, names), ...settled(index + 2)]),
  ].filter((step) => step.label !== "READ bs 0")
}

function settled(round: number): RequestStep[] {
  const marked = ["a", "b"].flatMap((part) => {
    const name = `marker${round}${part}`
    const text = `"${name}"`
    return [
      rename("markers", { shortNames: [name] }),
      get(`/apis/${group}/v1`, { untilText: text, label: `WRITE nothing, until ${name}` }),
    ]
  })
  return [...marked, read("as", round), read("bs", round), get(`/apis/${group}/v1`, { label: `GET v1 ${round}` })]
}
