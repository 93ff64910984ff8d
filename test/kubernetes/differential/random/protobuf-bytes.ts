// Random bytes in protobuf bodies: objects of every kind whose encoding is cut, lengthened, or changed at some of its tags, lengths and
// values, or has fields repeated, unknown, or of other wire types.

import { printGroupVersion } from "../../../../apimachinery/object.ts"
import { encodeProtobuf } from "../../../../apimachinery/schema/protobuf/encode.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { type Kind, kinds } from "../generate/objects.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"
import { titled } from "./titled.ts"

const length = 60

export function randomProtobufScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const all = kinds()
  const steps = Array.from({ length }, () => created(random, pick(random, all)))
  return { name: `bytes of protobuf at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

function created(random: Random, kind: Kind): RequestStep {
  // Lengths are in the bytes, so that nothing can be filled in later.
  const text = JSON.stringify(kind.object()).replaceAll(/@\{[^}]*\}/g, "abcd")
  const { namespace: _namespace, ...metadata } = (JSON.parse(text) as { metadata: Record<string, string> }).metadata
  const object = {
    ...(JSON.parse(text) as object),
    metadata: { ...metadata, labels: { a: "b", c: "d" }, finalizers: ["a.b/c"] },
    apiVersion: printGroupVersion(kind.facts),
    kind: kind.facts.kind,
  }
  let bytes: Buffer = Buffer.from(encodeProtobuf(kind.schema, object))
  const changes = 1 + random(3)
  for (let change = 0; change < changes; change++) bytes = changed(random, bytes)
  return post(`${kind.path}?dryRun=All`, bytes.toString("latin1"), {
    contentType: "application/vnd.kubernetes.protobuf",
    encoding: "latin1",
  })
}

const envelope = 4
/** Tags, lengths and groups as they could occur. */
const pieces = [
  "08 01",
  "08 ff ff ff ff ff ff ff ff ff 01",
  "08 ff ff ff ff ff ff ff ff ff ff",
  "09 01 02 03 04 05 06 07 08",
  "0a 00",
  "0a ff ff ff ff ff ff ff ff ff 01",
  "0a ff ff ff ff ff ff ff ff 7f",
  "0a 80 80 80 80 08",
  "0b 08 01 0c",
  "0c",
  "0d 01 02 03 04",
  "0e",
  "0f",
  "12 00",
  "12 02 08 01",
  "1a 04 0a 02 0a 00",
  "00 00",
  "f8 ff ff ff 0f 01",
  "f8 ff ff ff ff 0f 01",
  "8a 80 80 80 80 01 00",
  "c2 3e 01 61",
  "c3 3e c4 3e",
  "c3 3e",
].map((hex) => Buffer.from(hex.replaceAll(" ", ""), "hex"))

function changed(random: Random, bytes: Buffer): Buffer {
  const at = envelope + random(Math.max(1, bytes.length - envelope))
  if (chance(random, 0.1)) return bytes.subarray(0, at)
  if (chance(random, 0.2)) return inRaw(bytes, pick(random, pieces))
  if (chance(random, 0.2)) return Buffer.concat([bytes.subarray(0, at), pick(random, pieces), bytes.subarray(at)])
  const copy = Buffer.from(bytes)
  // A small difference makes one wire type, number or length of another.
  copy[at] = chance(random, 0.6) ? (copy[at] ?? 0) ^ (1 << random(8)) : random(256)
  return copy
}

/** With a piece behind the object's own message, whose length is made right. */
function inRaw(bytes: Buffer, piece: Buffer): Buffer {
  const typeMeta = bytes[envelope + 1] ?? 0
  const tag = envelope + 2 + typeMeta
  let [end, size] = [tag + 1, 0]
  for (let shift = 1; end < bytes.length; shift *= 128) {
    const byte = bytes[end++] ?? 0
    size += (byte & 0x7f) * shift
    if (byte < 0x80) break
  }
  const raw = Buffer.concat([bytes.subarray(end, end + size), piece])
  const lengthBytes = Buffer.of((raw.length & 0x7f) | 0x80, (raw.length >> 7) & 0x7f)
  return Buffer.concat([bytes.subarray(0, tag + 1), lengthBytes, raw, bytes.subarray(end + size)])
}
