// Raw values (RawExtension) in texts that say the same in other ways: upstream keeps the bytes. In protobuf they are seen as they are, in
// JSON without spaces, and what patches have looked into is written anew.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  strategicPatch,
} from "../scenario.ts"

interface Holder {
  path: string
  apiVersion: string
  kind: string
  name: string
  /** The rest of an object as JSON, whose raw value is this text. */
  with: (raw: string) => string
  /** The raw value in patches. */
  at: readonly string[]
}

const space = "namespaces/@{ns}"
const devices = "/apis/resource.k8s.io/v1"
const configured = (raw: string): string =>
  `"config":[{"opaque":{"driver":"d.example.com","parameters":{}}},{"opaque":{"driver":"d.example.com","parameters":${raw}}}]`
const device = (kind: string, path: string, start: string, end: string, at: readonly string[]): Holder => ({
  path: `${devices}/${path}`,
  apiVersion: "resource.k8s.io/v1",
  kind,
  name: "a-@{id}",
  with: (raw) => `"spec":{${start}${configured(raw)}${end}}`,
  at: [...at, "config", "1", "opaque", "parameters"],
})

const holders: readonly Holder[] = [
  {
    path: `/apis/apps/v1/${space}/controllerrevisions`,
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    name: "a",
    with: (raw) => `"revision":1,"data":${raw}`,
    at: ["data"],
  },
  device("DeviceClass", "deviceclasses", "", "", ["spec"]),
  device("ResourceClaim", `${space}/resourceclaims`, '"devices":{', "}", ["spec", "devices"]),
  device("ResourceClaimTemplate", `${space}/resourceclaimtemplates`, '"spec":{"devices":{', "}}", [
    "spec",
    "spec",
    "devices",
  ]),
]

/** The first ones are different texts of one value. */
const texts: readonly string[] = [
  '{"b":1.50,"a":{"d":1e3,"c":"<é\\u0061"},"2":[1.0,{"y":1,"x":2}],"1":null}',
  '{ "b": 1.50,\n\t"a": { "d": 1e3, "c": "<é\\u0061" }, "2": [ 1.0, { "y": 1, "x": 2 } ], "1": null }',
  '{"1":null,"2":[1,{"x":2,"y":1}],"a":{"c":"\\u003céa","d":1000},"b":1.5}',
  "{}",
  " { } ",
  '{"a":12345678901234567890123,"b":9007199254740993,"c":-0,"d":1E+2,"e":0.10}',
  '{"__proto__":{"b":1,"a":2},"a b":" } ] , : \\" { [ ","":{"":""},"\\u0061":"\\u00e9"}',
]
/** Without escapes, and keys that are numbers: those are as they were given only where a patch has not looked. */
const numbers = texts.map((text) =>
  text.replace("\\u0061", "a").replace("\\u00e9", "é").replace('"1":', '"y":').replace('"2":', '"x":'),
)
/** Whose managers upstream does not find by the literals of numbers. */
const sameNumbers = [
  '{"b":2,"a":{"d":1,"c":"<é"}}',
  '{ "b": 2,\n"a": { "d" :1, "c": "<é" } }',
  '{"a":{"c":"<é","d":1},"b":2}',
  "{}",
]
const repeated = '{"a":1,"b":{"c":1,"c":2},"a":[2]}'

const protobuf = { accept: "application/vnd.kubernetes.protobuf" }
const json = { contentType: "application/json" }

export function rawTextCases(): Scenario[] {
  return [
    ...holders.flatMap((holder) => [
      { name: `a ${holder.kind} keeps texts`, steps: [...kept(holder), ...inYaml(holder)] },
      { name: `a ${holder.kind} with texts is patched`, steps: numbers.flatMap((text) => patched(holder, text)) },
    ]),
    { name: "the status of a ResourceClaim keeps texts", steps: statuses() },
  ]
}

const objectOf = ({ apiVersion, kind, name, with: rest }: Holder, raw: string, labels = ""): string =>
  `{"apiVersion":"${apiVersion}","kind":"${kind}","metadata":{"name":"${name}"${labels}},${rest(raw)}}`

function kept(holder: Holder): RequestStep[] {
  const { path, name } = holder
  const one = `${path}/${name}`
  return [...texts, repeated].flatMap((text, index) => [
    { ...post(`${path}?fieldValidation=Ignore`, objectOf(holder, text)), ...json, label: `POST ${text}` },
    get(one, { headers: protobuf, label: `GET protobuf ${index}` }),
    get(`${path}?fieldSelector=metadata.name%3D${name}`, { headers: protobuf, label: `LIST protobuf ${index}` }),
    get(one, { label: `GET ${index}` }),
    get(one, { headers: { accept: "application/yaml" }, label: `GET yaml ${index}` }),
    ...[...texts, repeated].map((other) => ({
      ...put(`${one}?dryRun=All&fieldValidation=Ignore`, objectOf(holder, other)),
      ...json,
      label: `PUT over ${index} ${other}`,
    })),
    { ...put(one, objectOf(holder, text, ',"labels":{"a":"b"}')), ...json, label: `PUT labels ${index}` },
    get(one, { headers: protobuf, label: `GET protobuf of labels ${index}` }),
    { ...put(one, objectOf(holder, texts[1] ?? "")), ...json, label: `PUT the second over ${index}` },
    get(one, { headers: protobuf, label: `GET protobuf of another ${index}` }),
    remove(one, undefined, { headers: protobuf, label: `DELETE ${index}` }),
  ])
}

function inYaml(holder: Holder): RequestStep[] {
  const { path, name } = holder
  return texts.flatMap((text) => [
    { ...post(path, objectOf(holder, text)), contentType: "application/yaml", label: `POST yaml ${text}` },
    get(`${path}/${name}`, { headers: protobuf, label: `GET protobuf of yaml ${text}` }),
    remove(`${path}/${name}`, undefined, { label: `DELETE yaml ${text}` }),
  ])
}

function patched(holder: Holder, text: string): RequestStep[] {
  const { path, name, apiVersion, kind, at } = holder
  const one = `${path}/${name}`
  const label = { metadata: { labels: { a: "b" } } }
  const isListed = at.includes("config")
  const pointer = `/${at.join("/")}`
  const attempts: readonly (readonly [type: string, body: Json])[] = [
    [mergePatch, label],
    [strategicPatch, label],
    [jsonPatch, [{ op: "add", path: "/metadata/labels", value: { a: "b" } }]],
    [jsonPatch, `[{"op":"add","path":"${pointer}/new","value":{"z":1.50,"y":2}}]`],
    // Upstream compares texts, whose escapes are those of its encoder.
    ...(text.includes("<") ? [] : ([[jsonPatch, `[{"op":"test","path":"${pointer}","value":${text}}]`]] as const)),
    [jsonPatch, `[{"op":"replace","path":"${pointer}","value":${text}}]`],
    ...(isListed ? [] : ([[mergePatch, `{"data":{"new":{"z":1.50,"y":2},"b":null}}`]] as const)),
    ...(isListed ? [] : ([[mergePatch, `{"data":${text}}`]] as const)),
    [applyPatch, { apiVersion, kind, metadata: { name, ...label.metadata } }],
    [applyPatch, objectOf(holder, text)],
  ]
  return attempts.flatMap(([type, body], index) => [
    { ...post(path, objectOf(holder, text)), ...json, label: `POST ${index} ${text}` },
    patch(`${one}?fieldManager=m${type === applyPatch ? "&force=true" : ""}`, type, body, {
      label: `PATCH ${index} ${text}`,
    }),
    get(one, { headers: protobuf, label: `GET protobuf patched ${index} ${text}` }),
    remove(one, undefined, { label: `DELETE ${index} ${text}` }),
  ])
}

function statuses(): RequestStep[] {
  const path = `${devices}/${space}/resourceclaims`
  const one = `${path}/a/status`
  const used = '"driver":"d.example.com","pool":"p","device":"d"'
  const status = (raw: string, rest = ""): string =>
    `"status":{"allocation":{"devices":{"results":[{"request":"r",${used}}]}},"devices":[{${used},"data":${raw}${rest}}]}`
  const whole = (raw: string): string => `{"metadata":{"name":"a"},${status(raw)}}`
  return [
    post(path, {
      metadata: { name: "a" },
      spec: { devices: { requests: [{ name: "r", exactly: { deviceClassName: "c" } }] } },
    }),
    ...sameNumbers.flatMap((text, index) => [
      { ...put(`${one}?fieldManager=m${index}`, whole(text)), ...json, label: `PUT status ${text}` },
      get(`${path}/a`, { headers: protobuf, label: `GET protobuf ${index}` }),
      patch(`${one}?fieldManager=merge`, mergePatch, { metadata: { labels: { a: `b${index}` } } }),
      get(`${path}/a`, { headers: protobuf, label: `GET protobuf merged ${index}` }),
      patch(`${one}?fieldManager=strategic`, strategicPatch, { metadata: { labels: { a: `c${index}` } } }),
      get(`${path}/a`, { headers: protobuf, label: `GET protobuf merged strategically ${index}` }),
    ]),
  ]
}
