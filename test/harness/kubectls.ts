// The kubectl minors that are installed beside the default one: kubectl.1.27, kubectl.1.28, ….

import { existsSync, realpathSync } from "node:fs"
import path from "node:path"

const minors = ["1.27", "1.28", "1.29", "1.30", "1.31", "1.32", "1.33"]

export function installedKubectls(): { minor: string; program: string }[] {
  return minors.flatMap((minor) => {
    const program = find(`kubectl.${minor}`)
    return program === undefined ? [] : [{ minor, program }]
  })
}

/**
 * What kubectl printed, without what it says of itself over a WebSocket: before 1.34 it reads before it has made its streams.
 * The message it then drops is the empty one with which a server says that the connection is there; others' loss would be seen.
 * Source: client-go/tools/remotecommand/websocket.go (readDemuxLoop), apiserver/pkg/util/proxy/websocket.go.
 */
export const withoutEarlyMessage = (printed: string): string =>
  printed.replaceAll(/^E\d{4} .*\bUnknown stream.*, discarding message.*\n/gm, "")

/** On PATH, or beside the kubectl that a link on PATH leads to. */
function find(program: string): string | undefined {
  for (const directory of (process.env["PATH"] ?? "").split(path.delimiter)) {
    const direct = path.join(directory, program)
    if (existsSync(direct)) return direct
    const kubectl = path.join(directory, "kubectl")
    if (!existsSync(kubectl)) continue
    for (const folder of [path.dirname(realpathSync(kubectl)), "/usr/lib/google-cloud-sdk/bin"]) {
      if (existsSync(path.join(folder, program))) return path.join(folder, program)
    }
  }
  return undefined
}
