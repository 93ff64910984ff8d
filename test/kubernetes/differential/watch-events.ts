// The events in the body of a watch, without the bookmarks that come from time to time: how many of them there are depends on how
// long the watch was open.

/** The only bookmark that comes once, after the initial events. */
const initialEventsEnd = "k8s.io/initial-events-end"
/** In protobuf the type is the first field of an event, after its number and its length. */
const bookmarkStarts = ['{"type":"BOOKMARK"', "\n\u0008BOOKMARK"]

/** In protobuf an event is preceded by its length, in JSON it ends with its line. */
export function eventsOf(body: Buffer, contentType = ""): Buffer[] {
  const events = contentType.includes("protobuf") ? framesOf(body) : linesOf(body)
  return events.filter((event) => !isPassingBookmark(event))
}

/** Some kinds have annotations in every bookmark, such as a DaemonSet the generation of its template. */
function isPassingBookmark(event: Buffer): boolean {
  const start = event.toString("latin1", 0, 32)
  return bookmarkStarts.some((text) => start.startsWith(text)) && !event.includes(initialEventsEnd)
}

function linesOf(body: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let at = 0; at < body.length;) {
    const newline = body.indexOf("\n", at)
    const end = newline < 0 ? body.length : newline
    if (end > at) lines.push(body.subarray(at, end))
    at = end + 1
  }
  return lines
}

function framesOf(body: Buffer): Buffer[] {
  const frames: Buffer[] = []
  for (let at = 0; at + 4 <= body.length;) {
    const end = at + 4 + body.readUInt32BE(at)
    if (end > body.length) break
    frames.push(body.subarray(at + 4, end))
    at = end
  }
  return frames
}
