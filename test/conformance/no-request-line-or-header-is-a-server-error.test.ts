// Whatever path, query and headers a client sends, no response is a server error, and no connection hangs.

import { describe, expect, test } from "vitest"
import { oddTexts } from "../../apimachinery/schema/testing/random-object.ts"
import { createRandom, pick } from "../../apimachinery/testing/random.ts"
import { checkFault, expectNoErrors, json, protobuf, rounds, seed, send, useTenant, yaml } from "./anything.ts"

useTenant()

describe("a request", () => {
  test("with any path, query and headers", async () => {
    const random = createRandom(seed)
    const steps = [
      "api",
      "apis",
      "v1",
      "namespaces",
      "default",
      "pods",
      "configmaps",
      "..",
      ".",
      "",
      "%2e%2e",
      "%00",
      "%ff",
      "watch",
      "proxy",
      "example.com",
      "things",
      "status",
      "scale",
      "log",
      "__proto__",
      "constructor",
      "openapi",
      "v3",
      "livez",
    ]
    const names = [
      "watch",
      "limit",
      "continue",
      "resourceVersion",
      "resourceVersionMatch",
      "labelSelector",
      "fieldSelector",
      "timeoutSeconds",
      "sendInitialEvents",
      "allowWatchBookmarks",
      "pretty",
      "includeObject",
      "dryRun",
      "fieldValidation",
      "fieldManager",
      "timeout",
      "gracePeriodSeconds",
      "propagationPolicy",
      "__proto__",
    ]
    const values = [
      ...oddTexts,
      "1",
      "true",
      "false",
      "999999999999999999999",
      "a in (b",
      "a=b,c!=d",
      "metadata.name=x",
      "a=\\",
      "Exact",
      "All",
      "Strict",
      "1h",
      "-1s",
      "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJ4In0",
    ]
    for (let round = 0; round < rounds * 4; round++) {
      const path = `/${Array.from({ length: 1 + random(7) }, () => pick(random, steps)).join("/")}`
      const query = Array.from(
        { length: random(4) },
        () => `${pick(random, names)}=${encodeURIComponent(pick(random, values))}`,
      )
      // A watch that is accepted would otherwise stay open.
      const target = `${path}?${[...query, "timeoutSeconds=1"].join("&")}`
        .replace(/watch=[^&]*/, "watch=0")
        .replace("/watch/", "/")
      const method = pick(random, ["GET", "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
      const headers = {
        accept: pick(random, [
          json,
          yaml,
          protobuf,
          "*/*",
          "a",
          ";;;,,,",
          `${json};as=Table;g=meta.k8s.io;v=v1`,
          `${protobuf};q=x`,
          "application/json;stream=watch",
        ]),
        "content-type": pick(random, [json, "x", "application/apply-patch+yaml", protobuf]),
        "if-none-match": pick(random, ["*", '"x"']),
        "user-agent": pick(random, ["", "curl/8", "x".repeat(500), "%%%"]),
      }
      const body = method === "GET" || method === "HEAD" ? undefined : pick(random, ["", "{}", "[]", "null"])
      await checkFault(`${method} ${target} ${JSON.stringify(headers)}`, send(method, target, body, headers))
    }
  })

  test("with more headers than fit is 431, and the connection ends", async () => {
    const flood = Object.fromEntries(Array.from({ length: 1500 }, (_, index) => [`x-flood-${index}`, "y".repeat(50)]))
    // Node responds and closes the connection; a client that is still sending may see the close first.
    const code = await send("GET", "/api", undefined, flood).then(
      (answer) => answer.code,
      () => 431,
    )
    expect(code).toBe(431)
    expect((await send("GET", "/livez")).code).toBe(200)
  })
})

test("nothing of all that was an error of the server, and no prototype is polluted", expectNoErrors)
