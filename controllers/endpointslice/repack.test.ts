import { expect, test } from "vitest"
import { repack } from "./repack.ts"

const a = { ip: "192.0.2.1", targetRef: { uid: "a" } }
const b = { ip: "192.0.2.2", targetRef: { uid: "b" } }
const [http, udp] = [
  { name: "http", port: 80 },
  { name: "udp", port: 53, protocol: "UDP" },
]

test.each([
  {
    name: "ports of the same addresses are together",
    subsets: [
      { addresses: [a], ports: [http] },
      { addresses: [a], ports: [udp] },
    ],
    packed: [{ addresses: [a], ports: [http, udp] }],
  },
  {
    name: "a port is with all of its addresses",
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
    name: "who is not ready once is not ready",
    subsets: [
      { addresses: [a], ports: [http] },
      { notReadyAddresses: [a], ports: [http] },
    ],
    packed: [{ notReadyAddresses: [a], ports: [http] }],
  },
  {
    name: "who is ready on one port only is so on that one",
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
    name: "pods of one address stay apart, and no ports are as good as some",
    subsets: [{ addresses: [a, { ...a, targetRef: { uid: "other" } }] }],
    packed: [{ addresses: [a, { ...a, targetRef: { uid: "other" } }] }],
  },
])("$name", ({ subsets, packed }) => {
  expect(repack(subsets)).toEqual(packed)
})
