import { expect, test } from "vitest"
import { repack } from "./repack.ts"

const a = { ip: "192.0.2.1", targetRef: { uid: "a" } }
const b = { ip: "192.0.2.2", targetRef: { uid: "b" } }
const [http, web, udp] = [
  { name: "http", port: 80 },
  { name: "web", port: 81, appProtocol: "http" },
  { name: "udp", port: 53, protocol: "UDP" },
]

test.each([
  {
    name: "ports with the same addresses are in one subset",
    subsets: [
      { addresses: [a], ports: [http] },
      { addresses: [a], ports: [udp] },
    ],
    packed: [{ addresses: [a], ports: [http, udp] }],
  },
  {
    name: "a port has all of its addresses",
    subsets: [
      { addresses: [b], ports: [http, udp] },
      { addresses: [a], ports: [udp] },
    ],
    packed: [
      { addresses: [b], ports: [http] },
      { addresses: [a, b], ports: [udp] },
    ],
  },
  {
    name: "an address that is not ready once is not ready",
    subsets: [
      { addresses: [a], ports: [http] },
      { notReadyAddresses: [a], ports: [http] },
    ],
    packed: [{ notReadyAddresses: [a], ports: [http] }],
  },
  {
    name: "an address that is ready on one port is ready on that port only",
    subsets: [
      { addresses: [a], ports: [http] },
      { notReadyAddresses: [a], ports: [udp] },
    ],
    packed: [
      { addresses: [a], ports: [http] },
      { notReadyAddresses: [a], ports: [udp] },
    ],
  },
  {
    name: "pods with the same address are kept apart, also without ports",
    subsets: [{ addresses: [a, { ...a, targetRef: { uid: "other" } }] }],
    packed: [{ addresses: [a, { ...a, targetRef: { uid: "other" } }] }],
  },
])("$name", ({ subsets, packed }) => {
  expect(repack(subsets)).toEqual(packed)
})

test.each([
  [false, [{ addresses: [a, b], ports: [udp, web] }]],
  [
    true,
    [
      { addresses: [a, b], ports: [udp] },
      { addresses: [b], ports: [web] },
      { addresses: [a], ports: [web] },
    ],
  ],
])("a port of an application's protocol in two subsets, which are read: %s", (areRead, packed) => {
  const subsets = [
    { addresses: [b], ports: [web, udp] },
    { addresses: [a], ports: [udp, web] },
  ]
  expect(repack(subsets, { areRead })).toEqual(packed)
})
