import { describe, expect, test } from "vitest"
import { der } from "./der.ts"
import { encodeSubject, readSubject } from "./request-subject.ts"

const organization = der.oid("2.5.4.10")
const commonName = der.oid("2.5.4.3")
/** A primitive or constructed value of any type. */
const value = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const bytes = Buffer.from(der.sequence(...parts))
  bytes[0] = tag
  return bytes
}
const masters = Buffer.from("system:masters")
const wide = Buffer.from("system:masters", "utf16le").swap16()

const requestOf = (...sets: readonly Buffer[]): Buffer =>
  der.sequence(der.sequence(der.integer(Buffer.from([0])), der.sequence(...sets)))
const one = (type: Buffer, given: Buffer): Buffer => der.set(der.sequence(type, given))

describe("the subject of a certificate request", () => {
  test.each<[string, Buffer, string[]]>([
    ["UTF8String", value(0x0c, masters), ["system:masters"]],
    ["PrintableString", value(0x13, masters), ["system:masters"]],
    ["T61String", value(0x14, masters), ["system:masters"]],
    ["IA5String", value(0x16, masters), ["system:masters"]],
    ["BMPString", value(0x1e, wide), ["system:masters"]],
    ["terminated BMPString", value(0x1e, wide, Buffer.from([0, 0])), ["system:masters"]],
    ["NumericString", value(0x12, Buffer.from("12 34")), ["12 34"]],
    ["VisibleString", value(0x1a, masters), []],
    ["OCTET STRING", value(0x04, masters), []],
    ["constructed UTF8String", value(0x2c, der.utf8("system:"), der.utf8("masters")), []],
  ])("has the text of a %s as Go reads it, and is written as it was read", (_type, given, texts) => {
    const subject = readSubject(requestOf(one(organization, given)))
    expect(subject.organization).toEqual(texts)
    expect(readSubject(requestOf(encodeSubject(subject).subarray(2)))).toEqual(subject)
  })

  test("has all organizations and the last common name, of sets as well", () => {
    const pair = (type: Buffer, text: string): Buffer => der.sequence(type, der.utf8(text))
    const subject = readSubject(
      requestOf(
        der.set(pair(commonName, "a"), pair(organization, "x")),
        der.set(),
        der.set(pair(organization, "y"), pair(commonName, "b")),
        one(der.oid("1.3.6.1.4.1.57683.2"), der.utf8("uid")),
      ),
    )
    expect(subject).toMatchObject({ commonName: ["b"], organization: ["x", "y"] })
  })

  test("is invalid with letters in a NumericString", () => {
    expect(() => readSubject(requestOf(one(organization, value(0x12, masters))))).toThrow("NumericString")
  })
})
