// Metadata that is wrong, written through an object and through its subresources.

import type { Json } from "../../../../apimachinery/object.ts"
import { type Kind, kinds, nameOf } from "../generate/objects.ts"
import { served, thing, things } from "./things.ts"
import { mergePatch, patch, post, remove, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"

type Body = Record<string, Json>

const maps = "/api/v1/namespaces/@{ns}/configmaps"
const pods = "/api/v1/namespaces/@{ns}/pods"

export function badMetadataCases(): Scenario[] {
  return [
    ...kinds()
      .filter(({ title }) => !title.includes("CustomResourceDefinition"))
      .map((kind) => ({ name: `${kind.title} gets metadata that is wrong`, steps: written(kind) })),
    { name: "subresources of a pod get metadata that is wrong", steps: ofPod() },
    { name: "a status is of another kind and has metadata that is wrong", steps: ofAnother() },
    {
      name: "a custom resource gets metadata of other types",
      steps: [...served, post(things, thing({ size: 1 })), ...ofOtherTypes()],
    },
    {
      name: "an object gets metadata of other types",
      steps: [post(maps, { metadata: { name: "a" } }), ...ofOtherTypes(maps, { data: {} })],
    },
  ]
}

const faults: Body[] = [
  { generateName: "Bad!" },
  { generateName: "good-" },
  {
    labels: { "bad key": "" },
    annotations: { "bad key": "" },
    finalizers: ["bad name"],
    ownerReferences: [{}],
  },
]

function written(kind: Kind): RequestStep[] {
  return [
    post(kind.path, kind.object()),
    ...prefixed(kind),
    ...faults.flatMap((metadata) =>
      ["", "/status"].map((part) => patch(`${kind.objectPath}${part}?dryRun=All`, mergePatch, { metadata })),
    ),
    remove(kind.objectPath, { gracePeriodSeconds: 0 }),
    ...besides(kind),
  ]
}

/** Not all look at what a name is not made of; the name itself is there already. */
function prefixed(kind: Kind): RequestStep[] {
  const object = kind.object()
  const metadata = { ...(object["metadata"] as Body), generateName: "a/b%" }
  return [post(`${kind.path}?dryRun=All`, { ...object, metadata }, { label: "POST with a prefix" })]
}

/** Some look at their metadata only when nothing else is wrong. An APIService's name is one that its spec makes wrong. */
function besides(kind: Kind): RequestStep[] {
  const metadata = { name: nameOf(kind.object()), labels: { "bad key": "" } }
  return kind.facts.kind === "APIService" ? [] : [post(`${kind.path}?dryRun=All`, { metadata })]
}

function ofPod(): RequestStep[] {
  const metadata = { generateName: "Bad!" }
  const change = (part: string, body: Body): RequestStep =>
    patch(`${pods}/a/${part}?dryRun=All`, strategicPatch, { metadata, ...body })
  return [
    post(pods, { metadata: { name: "a" }, spec: { containers: [{ name: "main", image: "busybox" }] } }),
    change("ephemeralcontainers", { spec: { ephemeralContainers: [{ name: "debug", image: "busybox" }] } }),
    change("resize", {}),
    change("status", { status: { phase: "Running" } }),
  ]
}

function ofAnother(): RequestStep[] {
  const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"
  const labels = { a: "b" }
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "busybox" }] } }
  const types: Body[] = [
    { kind: "ConfigMap", apiVersion: "v1" },
    { kind: "Deployment", apiVersion: "v1" },
    { kind: "Deployment", apiVersion: "apps/v2" },
    { kind: "Bogus" },
  ]
  const wrong: Body[] = [...faults, { name: "other" }, { namespace: "other" }, { resourceVersion: "bad" }]
  return [
    post(deployments, { metadata: { name: "a" }, spec: { selector: { matchLabels: labels }, template } }),
    ...types.flatMap((type) =>
      wrong.flatMap((metadata) =>
        [mergePatch, strategicPatch].map((way) =>
          patch(`${deployments}/a/status?dryRun=All`, way, { ...type, metadata, status: { replicas: 1 } }),
        ),
      ),
    ),
  ]
}

const fields = [
  "name",
  "generateName",
  "namespace",
  "uid",
  "resourceVersion",
  "selfLink",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "finalizers",
  "ownerReferences",
  "managedFields",
  "bogus",
]
/** Which some type has for its zero. */
const zeros: Json[] = ["", 0, false, [], {}, [""], [{}]]

/** Alone, and before what is of another type as well. */
function ofOtherTypes(path = things, rest: Body = thing({ size: 1 }) as Body): RequestStep[] {
  return fields.flatMap((field) =>
    zeros.flatMap((value) => {
      const text = `${field} ${JSON.stringify(value)}`
      const metadata = { [field]: value }
      return [
        post(`${path}?dryRun=All`, { ...rest, metadata: { name: "b", ...metadata } }, { label: `POST ${text}` }),
        post(
          `${path}?dryRun=All`,
          { ...rest, metadata: { name: "b", uid: 5, annotations: "x", ...metadata } },
          { label: `POST ${text} and others` },
        ),
        patch(`${path}/a?dryRun=All`, mergePatch, { metadata }, { label: `PATCH ${text}` }),
      ]
    }),
  )
}
