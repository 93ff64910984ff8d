// Every parameter of watch, on ConfigMaps of one namespace.

import { mergePatch, patch, post, remove, type RequestStep, type Scenario, watch, type WatchStep } from "../scenario.ts"
import { asTable } from "../generate/life-scenarios.ts"
import { path, some } from "./lists.ts"

export function watchCases(): Scenario[] {
  const changes: RequestStep[] = [
    post(path, { metadata: { name: "new", labels: { even: "true" } } }),
    patch(`${path}/new`, mergePatch, { data: { a: "b" } }),
    patch(`${path}/a`, mergePatch, { metadata: { labels: { even: "false" } } }),
    patch(`${path}/b`, mergePatch, { metadata: { labels: { even: "true" } } }),
    remove(`${path}/new`),
  ]
  const from = "resourceVersion=@{e.metadata.resourceVersion}"
  const open = [
    from,
    "",
    "resourceVersion=0",
    "resourceVersion=1",
    `${from}&labelSelector=even%3Dtrue`,
    `${from}&fieldSelector=metadata.name%3Da`,
    `${from}&fieldSelector=metadata.name%3Dnew&allowWatchBookmarks=true`,
    `${from}&timeoutSeconds=600`,
    "resourceVersion=abc",
    "resourceVersion=99999999999",
    "resourceVersionMatch=Exact",
    "resourceVersionMatch=NotOlderThan&sendInitialEvents=true",
    "resourceVersionMatch=NotOlderThan&sendInitialEvents=true&allowWatchBookmarks=true",
    "resourceVersionMatch=NotOlderThan&sendInitialEvents=false",
    `${from}&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&allowWatchBookmarks=true`,
    "sendInitialEvents=true",
    "sendInitialEvents=bogus",
    "labelSelector=bad%20key!",
    "fieldSelector=data.a%3Db",
    "timeoutSeconds=abc",
    "limit=1",
    "continue=abc",
  ]
  return [
    ...open.map((parameters) => ({
      name: `a watch is opened with ${parameters === "" ? "nothing" : parameters}`,
      steps: [...some, watch(`${path}${parameters === "" ? "" : `?${parameters}`}`), ...changes],
    })),
    {
      name: "a watch of one object is opened by its path",
      steps: [
        ...some,
        watch("/api/v1/watch/namespaces/@{ns}/configmaps/a?timeoutSeconds=1", { untilEnd: true }),
        watch(`${path}/a?timeoutSeconds=1`, { untilEnd: true }),
      ],
    },
    {
      name: "a watch ends when its time is over",
      steps: [...some, watch(`${path}?${from}&timeoutSeconds=1`, { untilEnd: true })],
    },
    {
      name: "a watch in another form is opened",
      steps: [
        ...some,
        watch(`${path}?${from}`, { headers: asTable }),
        watch(`${path}?resourceVersion=0&includeObject=Object`, { headers: asTable }),
        watch(`${path}?${from}`, { headers: { accept: "application/yaml" } }),
        watch(`${path}?${from}`, {
          headers: { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" },
        }),
        watch(`${path}?${from}`, { headers: { accept: "text/plain" } }),
        ...changes,
      ],
    },
    { name: "a watch in a form that is none is looked at first", steps: [...some, ...oddForms(), ...changes] },
  ]
}

/** Events have no form of a list and are not written in YAML; the query is validated before. */
function oddForms(): WatchStep[] {
  const forms = [
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/yaml",
    "application/yaml;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "image/png",
  ]
  const queries = ["", "resourceVersion=abc", "labelSelector=(", "includeObject=Bogus", "sendInitialEvents=true"]
  return forms.flatMap((accept) => queries.map((query) => watch(`${path}?${query}`, { headers: { accept } })))
}
