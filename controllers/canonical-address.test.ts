import { expect, test } from "vitest"
import { parseLooseAddress, printAddress, unmapped } from "../apimachinery/addresses.ts"
import { chance, createRandom, pick, seeds } from "../apimachinery/testing/random.ts"
import { canonicalAddress } from "./canonical-address.ts"

const parsedAndPrinted = (text: string): string | undefined => {
  const address = parseLooseAddress(text)
  return address && printAddress(unmapped(address))
}

test.each([
  ["10.0.0.1", "10.0.0.1"],
  ["10.0.0.010", "10.0.0.10"],
  ["::ffff:10.0.0.1", "10.0.0.1"],
  ["::ffff:a00:1", "10.0.0.1"],
  ["2001:db8::1", "2001:db8::1"],
  ["2001:DB8::1", "2001:db8::1"],
  ["2001:db8:0:0:1::", "2001:db8:0:0:1::"],
  ["1:0:0:0:2::", "1::2:0:0:0"],
  ["1:2:3::5:6:7:8", "1:2:3:0:5:6:7:8"],
  ["fe80::1%eth0", undefined],
  ["None", undefined],
  ["", undefined],
])("of %s is %s", (text, canonical) => {
  expect(canonicalAddress(text)).toBe(canonical)
})

test.each(seeds(1))("is that which is parsed and printed (seed %i)", (seed) => {
  const random = createRandom(seed)
  const usual = ["0", "0", "0", "1", "ffff", "10", "abcd"]
  const odd = [...usual, "00", "A", "0a", "12345", "10.0.0.1", "", "\n"]
  for (let round = 0; round < 20_000; round++) {
    const from = chance(random, 0.7) ? usual : odd
    const groups = (atMost: number): string =>
      Array.from({ length: random(atMost + 1) }, () => pick(random, from)).join(":")
    const text = chance(random, 0.5) ? groups(9) : `${groups(4)}::${groups(4)}`
    expect([text, canonicalAddress(text)]).toEqual([text, parsedAndPrinted(text)])
  }
})
