// What is around every object in Kubernetes' protobuf:
//
//   "k8s\0" │ Unknown { 1: TypeMeta { 1: apiVersion, 2: kind }, 2: raw = the object's message, 3: encoding, 4: type }
//
// Source: k8s.io/apimachinery/pkg/runtime (Unknown).

import { textOfBytes } from "../../go/text.ts"
import { MessageReader } from "./wire.ts"

/** The type of an object, "" where it is not told, and its message. Throws Malformed. */
export function readEnvelope(unknown: Buffer): { apiVersion: string; kind: string; raw: Buffer } {
  const envelope = { apiVersion: "", kind: "", raw: Buffer.alloc(0) as Buffer }
  const reader = new MessageReader(unknown, "Unknown")
  for (let number = reader.next(); number > 0; number = reader.next()) {
    if (number === 1) Object.assign(envelope, readTypeMeta(reader.bytes("TypeMeta")))
    else if (number === 2) envelope.raw = reader.bytes("Raw")
    else if (number === 3) reader.bytes("ContentEncoding")
    else if (number === 4) reader.bytes("ContentType")
    else reader.skip()
  }
  // What is no group and version is none.
  if (envelope.apiVersion.split("/").length > 2) envelope.apiVersion = ""
  return envelope
}

function readTypeMeta(message: Buffer): { apiVersion?: string; kind?: string } {
  const typeMeta: { apiVersion?: string; kind?: string } = {}
  const reader = new MessageReader(message, "TypeMeta")
  for (let number = reader.next(); number > 0; number = reader.next()) {
    if (number === 1) typeMeta.apiVersion = textOfBytes(reader.bytes("APIVersion"))
    else if (number === 2) typeMeta.kind = textOfBytes(reader.bytes("Kind"))
    else reader.skip()
  }
  return typeMeta
}
