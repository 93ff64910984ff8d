import { expect, test } from "vitest"
import {
  AddressFault,
  joinHostPort,
  masked,
  parseAddress,
  parseLooseAddress,
  parseLoosePrefix,
  parsePrefix,
  printAddress,
  printPrefix,
  unmapped,
  unmappedPrefix,
} from "./addresses.ts"

test.each<[text: string, loose: string | undefined, fault: string | undefined]>([
  ["10.9.8.7", "10.9.8.7", undefined],
  ["10.9.8.007", "10.9.8.7", "IPv4 field has octet with leading zero"],
  ["10.9.8.0000000000000007", "10.9.8.7", "IPv4 field has octet with leading zero"],
  ["10.9.8.256", undefined, "IPv4 field has value >255"],
  ["10.9.8", undefined, "IPv4 address too short"],
  ["10.9.8.7.6", undefined, "IPv4 address too long"],
  ["10.9.8.", undefined, 'IPv4 field must have at least one digit (at ".")'],
  ["2001:DB8:0:0:0:0:0:1", "2001:db8::1", undefined],
  ["::", "::", undefined],
  ["1::2::3", undefined, 'multiple :: in address (at ":3")'],
  ["1:2:3:4:5:6:7:8:9", undefined, 'trailing garbage after address (at "9")'],
  ["0:1:0:0:2:0:0:0", "0:1:0:0:2::", undefined],
  ["2001:00db8::1", "2001:db8::1", 'each group must have 4 or less digits (at "00db8::1")'],
  ["::ffff:10.9.8.7", "10.9.8.7", undefined],
  ["::ffff:010.9.8.7", "10.9.8.7", "IPv4 field has octet with leading zero"],
  ["fe80::1%eth0", undefined, undefined],
  ["fe80::1%", undefined, "zone must be a non-empty string"],
  ["10.9.8.7%eth0", undefined, 'unexpected character (at "%eth0")'],
  ["", undefined, "unable to parse IP"],
])("%j is parsed by the loose and the strict parser", (text, loose, fault) => {
  const address = parseLooseAddress(text)
  expect(address && printAddress(unmapped(address))).toBe(loose)
  expect(faultOf(() => parseAddress(text))).toBe(fault && `ParseAddr(${JSON.stringify(text)}): ${fault}`)
})

test.each<[text: string, loose: string | undefined, network: string | undefined, fault: string | undefined]>([
  ["10.9.8.7/24", "10.9.8.7/24", "10.9.8.0/24", undefined],
  ["10.9.8.7/024", "10.9.8.7/24", "10.9.8.0/24", 'bad bits after slash: "024"'],
  ["10.9.8.7/33", undefined, undefined, "prefix length out of range"],
  ["10.9.8.7", undefined, undefined, "no '/'"],
  ["2001:db8::1/64", "2001:db8::1/64", "2001:db8::/64", undefined],
  ["::ffff:10.9.8.7/120", "10.9.8.7/24", "10.9.8.0/24", undefined],
  ["::ffff:10.9.8.7/64", "::ffff:a09:807/64", "::/64", undefined],
])("%j is parsed as a network by the loose and the strict parser", (text, loose, network, fault) => {
  const prefix = parseLoosePrefix(text)
  expect(prefix && printPrefix(unmappedPrefix(prefix))).toBe(loose)
  expect(prefix && printPrefix(unmappedPrefix(masked(prefix)))).toBe(network)
  expect(faultOf(() => parsePrefix(text))).toBe(fault && `netip.ParsePrefix(${JSON.stringify(text)}): ${fault}`)
})

function faultOf(parse: () => unknown): string | undefined {
  try {
    parse()
    return undefined
  } catch (error) {
    if (error instanceof AddressFault) return error.message
    throw error
  }
}

test.each([
  ["10.1.0.1", 80, "10.1.0.1:80"],
  ["fd00::1", "80", "[fd00::1]:80"],
  ["node-1", 10250, "node-1:10250"],
])("a host %s with a port", (host, port, joined) => {
  expect(joinHostPort(host, port)).toBe(joined)
})
