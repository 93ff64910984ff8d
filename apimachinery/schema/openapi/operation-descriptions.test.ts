import { expect, test } from "vitest"
import { describeOperation, type DescribedOperation } from "./operation-descriptions.ts"

const get: DescribedOperation = { action: "get", method: "get", kind: "Pod", subresource: "", watched: false }
const instead = "deprecated: use the 'watch' parameter with a list operation instead"

test.each<[Partial<DescribedOperation>, string]>([
  [{}, "read the specified Pod"],
  [{ subresource: "log" }, "read log of the specified Pod"],
  [{ action: "list" }, "list objects of kind Pod"],
  [{ action: "list", watched: true }, "list or watch objects of kind Pod"],
  [{ action: "post" }, "create a Pod"],
  [{ action: "post", kind: "Event" }, "create an Event"],
  [{ action: "post", kind: "Endpoints" }, "create Endpoints"],
  [{ action: "delete", kind: "IngressClass" }, "delete an IngressClass"],
  [{ action: "post", subresource: "binding" }, "create binding of a Pod"],
  [{ action: "put", subresource: "status" }, "replace status of the specified Pod"],
  [{ action: "patch" }, "partially update the specified Pod"],
  [{ action: "deletecollection" }, "delete collection of Pod"],
  [{ action: "watchlist" }, `watch individual changes to a list of Pod. ${instead}.`],
  [
    { action: "watch" },
    `watch changes to an object of kind Pod. ${instead}, filtered to a single item with the 'fieldSelector' parameter.`,
  ],
  [{ action: "connect", method: "put", subresource: "proxy" }, "connect PUT requests to proxy of Pod"],
])("%j: %s", (about, words) => {
  expect(describeOperation({ ...get, ...about })).toBe(words)
})
