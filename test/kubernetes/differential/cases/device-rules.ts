// Devices: fields that are dropped and still count as changes, limits in bytes, and shares of devices.

import type { Json } from "../../../../apimachinery/object.ts"
import { post, put, type RequestStep, type Scenario } from "../scenario.ts"

const devices = "/apis/resource.k8s.io/v1"
const slices = `${devices}/resourceslices`
const claims = `${devices}/namespaces/@{ns}/resourceclaims`

export function deviceRuleCases(): Scenario[] {
  return [
    { name: "a slice of devices has too many attributes", steps: manyAttributes(), anyOrder: true },
    { name: "a slice of devices gets fields that are dropped", steps: dropped() },
    { name: "devices are allocated in many shares", steps: shares() },
    { name: "devices of a claim report addresses", steps: addresses() },
    { name: "a device has empty conditions of binding", steps: emptyConditions() },
    { name: "devices are selected by attributes of any type", steps: selectors() },
  ]
}

const slice = (device: object, name = "s-@{id}"): Json => ({
  metadata: { name },
  spec: {
    driver: "a.example.com",
    nodeName: "n",
    pool: { name: "p", resourceSliceCount: 1 },
    devices: [{ name: "d", ...device }],
  },
})

function manyAttributes(): RequestStep[] {
  const sizes = [33, 49].map((size): [string, Json] => [
    `${size} attributes`,
    Object.fromEntries(Array.from({ length: size }, (_, index) => [`a${index}`, { int: index }])),
  ])
  const long: [string, Json] = ["a long name", { ["é".repeat(60)]: { int: 1 }, ["a".repeat(100)]: {} }]
  return [...sizes, long].map(([label, attributes]) =>
    post(`${slices}?dryRun=All`, slice({ attributes }), { label: `POST ${label}` }),
  )
}

function dropped(): RequestStep[] {
  const taints = [{ key: "a", effect: "NoSchedule", timeAdded: "2024-01-02T03:04:05Z" }]
  const changes: readonly [string, object][] = [
    ["a list", { attributes: { a: { string: "x", bools: [true] } } }],
    ["a mapping", { attributes: { a: { string: "x" } }, nodeAllocatableResourceMappings: { cpu: {} } }],
    ["nothing", { attributes: { a: { string: "x" } } }],
    ["a list only", { attributes: { a: { strings: ["x"] } } }],
    ["a taint", { taints }],
    ["the same taint", { taints }],
    ["an empty list", { taints, consumesCounters: [] }],
  ]
  return [
    post(slices, slice({ attributes: { a: { string: "x" } } })),
    ...changes.map(([label, device]) => put(`${slices}/s-@{id}`, slice(device), { label: `PUT ${label}` })),
  ]
}

const named = { driver: "a.example.com", pool: "p", device: "d" }
const spec = { devices: { requests: [{ name: "r", exactly: { deviceClassName: "c" } }] } }

const withStatus = (status: Json, label: string): RequestStep =>
  put(`${claims}/c/status?dryRun=All`, { metadata: { name: "c" }, spec, status }, { label })

function shares(): RequestStep[] {
  const uuid = "0123abcd-0123-0123-0123-0123456789ab"
  const ids = ["", "X", uuid, `{${uuid}}`, `urn:uuid:${uuid}`, `urn-uuid:${uuid}`, uuid.replaceAll("-", "")]
  const wide = ["é".repeat(18), `é${"a".repeat(34)}`, `é${"a".repeat(30)}`]
  return [
    post(claims, { metadata: { name: "c" }, spec }),
    ...[...ids, ...wide].map((shareID, index) =>
      withStatus({ allocation: { devices: { results: [{ request: "r", ...named, shareID }] } } }, `PUT share ${index}`),
    ),
  ]
}

function addresses(): RequestStep[] {
  const texts = ["1.2.3.4/24", "1.2.3.4", "::ffff:1.2.3.4/64", "::ffff:1.2.3.4/120", "::ffff:1.2.3.4/24", "01.2.3.4/24"]
  const allocation = { devices: { results: [{ request: "r", ...named }] } }
  return [
    post(claims, { metadata: { name: "c" }, spec }),
    withStatus({ allocation, devices: [{ ...named, networkData: { ips: texts } }] }, "PUT addresses"),
  ]
}

function emptyConditions(): RequestStep[] {
  const [wanted, failures] = ["bindingConditions", "bindingFailureConditions"] as const
  const lists = [[], null, undefined]
  const bindings = [wanted, failures].flatMap((name) =>
    lists.map((list) => ({ [wanted]: ["a"], [failures]: ["b"], [name]: list })),
  )
  const steps = bindings.flatMap((binding) => {
    const label = JSON.stringify(binding)
    const allocation = { devices: { results: [{ request: "r", ...named, ...binding }] } }
    return [
      post(`${slices}?dryRun=All`, slice(binding), { label: `POST ${label}` }),
      withStatus({ allocation }, `PUT ${label}`),
    ]
  })
  return [post(claims, { metadata: { name: "c" }, spec }), ...steps]
}

function selectors(): RequestStep[] {
  const attribute = "device.attributes['a'].b"
  const calls = ["all(x, true)", "exists(x, x == 1)", "map(x, x)", "filter(x, x).size() > 0", "transformList(i, v, v)"]
  const members = [
    "c",
    "size() > 1",
    "matches('a')",
    "includes(1)",
    "isGreaterThan(semver('1.0.0'))",
    "startsWith('x')",
  ]
  const texts = [...calls, ...members].map((text) => `${attribute}.${text}`)
  const values = [attribute, `true ? ${attribute} : 1`, `[${attribute}, 1][0]`, `[1, ${attribute}][0]`, `!${attribute}`]
  const lists = [`1 in ${attribute}`, `${attribute}[0]`, `cel.bind(a, ${attribute}, a.all(x, x))`, `${attribute} < 'x'`]
  const others = ["dyn(true)", "dyn(1)", "device.attributes['a'].?b", "device.attributes['a'].?b.orValue(false)"]
  return [...texts, ...values, ...lists, ...others].map((expression) =>
    post(
      `${devices}/deviceclasses?dryRun=All`,
      { metadata: { name: "a" }, spec: { selectors: [{ cel: { expression } }] } },
      { label: expression },
    ),
  )
}
