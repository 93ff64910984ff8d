// An object on its way through the gateway: bytes as stored, wire text and parsed form, each made at most once and only
// when somebody asks. Stored bytes carry no resourceVersion (it is the store's revision); it is spliced in when read, right
// after the opening of metadata, which canonical encoding (encodeStored) puts at a place found without parsing.

import type { KubeObject } from "../../apimachinery/object.ts"

export interface KubeValue {
  readonly resourceVersion: string
  /** JSON with the resourceVersion: what goes on the wire. */
  bytes(): Uint8Array
  /** Parsed and deeply frozen; shared by all readers. */
  object(): KubeObject
}
