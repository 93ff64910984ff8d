// The audit logs of both servers: which annotations a request got in admission.

import { open } from "node:fs/promises"
import { silentLog, type Log } from "../../../client/log.ts"
import { eventually } from "../../harness/eventually.ts"

type Annotations = Readonly<Record<string, string>>

interface Event {
  auditID?: string
  annotations?: Annotations
}

export class Audits {
  /** Of kube-apiserver; absent if it was not started by the test. */
  file: string | undefined
  readonly #kubernetes = new Map<string, Annotations>()
  readonly #polyplane = new Map<string, Annotations>()
  #read = 0
  #rest = ""

  /** Of the gateway. */
  readonly log: Log = { ...silentLog, info: (event) => remember(this.#polyplane, event as Event) }

  /** The annotations of the request with that Audit-Id. An event is written after the response. */
  async of(server: string, id: string): Promise<Annotations | undefined> {
    if (this.file === undefined) return undefined
    const events = server === "kubernetes" ? this.#kubernetes : this.#polyplane
    let found: Annotations | undefined
    await eventually(async () => {
      if (events === this.#kubernetes && !events.has(id)) await this.#readOn(this.file as string)
      found = events.get(id)
      return found !== undefined
    })
    return found
  }

  async #readOn(path: string): Promise<void> {
    await using file = await open(path)
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(1 << 22), position: this.#read })
    this.#read += bytesRead
    const lines = (this.#rest + buffer.toString("latin1", 0, bytesRead)).split("\n")
    this.#rest = lines.pop() ?? ""
    for (const line of lines) remember(this.#kubernetes, JSON.parse(Buffer.from(line, "latin1").toString()) as Event)
  }
}

function remember(events: Map<string, Annotations>, { auditID, annotations = {} }: Event): void {
  if (auditID !== undefined) events.set(auditID, annotations)
}
