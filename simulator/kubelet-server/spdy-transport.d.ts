// Types for the used part of spdy-transport, which has none.
declare module "spdy-transport" {
  import type { Duplex } from "node:stream"
  import type { EventEmitter } from "node:events"

  export interface SpdyStream extends Duplex {
    headers: Record<string, string>
    /** Private to the library. */
    readonly _spdyState: { window: SpdyWindow }
    respond(status: number, headers: Record<string, string>, callback?: (error?: Error) => void): void
  }

  type Headers = Record<string, string>

  export interface SpdyParser {
    parseKVs(body: unknown, callback: (error: Error | null, headers?: Headers) => void): void
  }

  /** How many bytes may be sent before an update. `sent` is called when there is room for -`size` bytes. */
  export interface SpdyWindow {
    readonly send: { update(size: number, sent?: () => void): void }
  }

  export interface SpdyConnection extends EventEmitter {
    /** Private to the library. */
    readonly _spdyState: {
      parser: SpdyParser
      framer: Record<"settingsFrame" | "windowUpdateFrame", (frame: unknown, callback?: () => void) => void>
      window: SpdyWindow
    }
    request(stream: { method: string; path: string; headers: Headers }, callback?: (error?: Error) => void): SpdyStream
    start(version: number): void
    end(): void
    on(event: "stream", listener: (stream: SpdyStream) => void): this
    on(event: "error" | "close", listener: (error?: Error) => void): this
  }

  export interface SpdyTransport {
    connection: { create(socket: Duplex, options: { protocol: "spdy"; isServer: boolean }): SpdyConnection }
  }
}
