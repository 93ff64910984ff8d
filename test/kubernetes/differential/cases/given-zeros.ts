// Zero values that a client sends: times that are not set, and owners without names.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"

type Body = Record<string, Json>

const space = "/namespaces/@{ns}"
const events = `/apis/events.k8s.io/v1${space}/events`
const coreEvents = `/api/v1${space}/events`

export function givenZeroCases(): Scenario[] {
  return [
    { name: "new events have times that are not set", steps: newEvents() },
    { name: "events get times that are not set", steps: changedEvents() },
    { name: "a token is requested with owners", steps: tokens() },
  ]
}

const times = [
  null,
  "0001-01-01T00:00:00Z",
  "0001-01-01T00:00:00.000000Z",
  "0001-01-01T01:00:00+01:00",
  "0001-01-01T01:00:00.000000+01:00",
  "0001-01-01T00:00:01Z",
  "",
]
const someTime = "2020-01-01T00:00:00.000000Z"

const event = (name: string, more: Body): Body => ({
  metadata: { name },
  reportingController: "a/b",
  reportingInstance: "c",
  action: "d",
  reason: "e",
  type: "Normal",
  regarding: { namespace: "@{ns}" },
  ...more,
})

function newEvents(): RequestStep[] {
  return times.flatMap((time, index) => {
    const said = JSON.stringify(time)
    const { regarding, ...ofCore } = event(`b${index}`, { eventTime: time })
    const series = { count: 2, lastObservedTime: time }
    const deprecated = { deprecatedFirstTimestamp: time, deprecatedLastTimestamp: time }
    return [
      post(events, event(`a${index}`, { eventTime: time }), { label: `POST ${said}` }),
      post(coreEvents, { ...ofCore, involvedObject: regarding ?? null }, { label: `POST to core ${said}` }),
      post(events, event(`c${index}`, { eventTime: someTime, series }), { label: `POST series ${said}` }),
      post(events, event(`d${index}`, { eventTime: someTime, ...deprecated }), { label: `POST deprecated ${said}` }),
    ]
  })
}

function changedEvents(): RequestStep[] {
  const apply = { apiVersion: "events.k8s.io/v1", kind: "Event" }
  return [
    post(events, event("new", { eventTime: someTime })),
    post(coreEvents, { metadata: { name: "old" }, involvedObject: { namespace: "@{ns}" } }),
    ...["new", "old"].flatMap((name) =>
      times.flatMap((eventTime) => {
        const label = `${name} ${JSON.stringify(eventTime)}`
        return [
          put(`${events}/${name}`, event(name, { eventTime }), { label: `PUT ${label}` }),
          patch(`${events}/${name}`, mergePatch, { eventTime }, { label: `PATCH ${label}` }),
          patch(`${coreEvents}/${name}`, mergePatch, { eventTime }, { label: `PATCH core ${label}` }),
          patch(
            `${events}/${name}?fieldManager=x&force=true`,
            applyPatch,
            { ...apply, ...event(name, { eventTime }) },
            { label: `APPLY ${label}` },
          ),
        ]
      }),
    ),
    get(coreEvents),
  ]
}

function tokens(): RequestStep[] {
  const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" }
  const owners: Json[] = [
    [{}],
    [null],
    [{ kind: "a" }],
    [owner, owner],
    [owner, { ...owner, controller: false }],
    [{ ...owner, controller: null, blockOwnerDeletion: false }],
    [],
  ]
  return owners.map((ownerReferences) =>
    post(
      `/api/v1${space}/serviceaccounts/default/token`,
      { metadata: { ownerReferences }, spec: { audiences: ["a"] } },
      { label: `token of ${JSON.stringify(ownerReferences)}` },
    ),
  )
}
