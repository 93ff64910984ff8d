// The shape of the repository: who may import whom, what files are called, and where a reader finds what a folder is.

import { existsSync, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"

const root = fileURLToPath(new URL("../", import.meta.url))

interface Folder {
  /** Other top-level folders its sources may import. */
  imports: readonly string[]
  why: string
  /** Tells in its first lines what the folder is. */
  main: string
}

const client = ["apimachinery", "client"]
const folders: Record<string, Folder> = {
  apimachinery: { imports: [], why: "the vocabulary everything else speaks", main: "object.ts" },
  client: { imports: ["apimachinery"], why: "talks to any Kubernetes API, knows none of our servers", main: "rest.ts" },
  storage: {
    imports: ["apimachinery"],
    why: "keys, bytes, revisions; nothing of HTTP, pods or tenants",
    main: "types.ts",
  },
  gateway: {
    imports: ["apimachinery", "client", "storage"],
    why: "the API server; others are its clients",
    main: "server.ts",
  },
  controllers: { imports: client, why: "clients of the Kubernetes API, whoever serves it", main: "main.ts" },
  syncer: { imports: client, why: "clients of two Kubernetes APIs, whoever serves them", main: "main.ts" },
  "vn-agent": { imports: client, why: "runs beside a kubelet, far from the gateway", main: "server.ts" },
  operator: { imports: client, why: "a client of the super cluster", main: "main.ts" },
  simulator: { imports: client, why: "a client of the cluster it plays the nodes of", main: "main.ts" },
  cli: {
    imports: [
      ...client,
      "gateway",
      "controllers",
      "syncer",
      "vn-agent",
      "operator",
      "simulator",
      "storage",
      "manifests",
    ],
    why: "the only place that composes the parts",
    main: "main.ts",
  },
  test: { imports: [], why: "", main: "harness/polyplane.ts" },
  bench: { imports: [], why: "", main: "storage.ts" },
  manifests: { imports: [], why: "", main: "kustomization.yaml" },
  docs: { imports: [], why: "", main: "decisions/README.md" },
}

/** They may reach everywhere: what they test or measure spans folders. */
const free = (file: string) =>
  file.endsWith(".test.ts") || file.includes("/testing/") || file.startsWith("test/") || file.startsWith("bench/")

const notOurs = new Set(["node_modules", "coverage"])

function filesUnder(folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("node_modules"))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"))
}

const files = Object.keys(folders).flatMap((folder) => (existsSync(path.join(root, folder)) ? filesUnder(folder) : []))
const sources = files.filter((file) => file.endsWith(".ts"))
const text = (file: string) => readFileSync(path.join(root, file), "utf8")

interface Import {
  from: string
  target: string
  typeOnly: boolean
}

const statement =
  /^(?:import|export)\s(type\s)?(?:[^;'"]*?\sfrom\s)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/gm

const imports: Import[] = sources.flatMap((from) =>
  [...text(from).matchAll(statement)].map(([, type, fixed, lazy]) => ({
    from,
    target: fixed ?? lazy ?? "",
    typeOnly: type !== undefined,
  })),
)
const internal = imports
  .filter(({ target }) => target.startsWith("."))
  .map(({ from, target, typeOnly }) => ({ from, typeOnly, target: path.posix.join(path.posix.dirname(from), target) }))
const topOf = (file: string) => file.split("/")[0] ?? ""

describe("imports", () => {
  test("there are some", () => {
    expect(internal.length).toBeGreaterThan(500)
  })

  test.each(Object.entries(folders).filter(([, { why }]) => why !== ""))(
    "%s imports only what it may",
    (folder, rule) => {
      const wrong = internal
        .filter(({ from }) => topOf(from) === folder && !free(from))
        .filter(({ target }) => topOf(target) !== folder && !rule.imports.includes(topOf(target)))
      expect(wrong, `${folder}: ${rule.why}`).toEqual([])
    },
  )

  test("within the gateway the way of a request goes one way: filters, endpoints, registry", () => {
    const way = ["gateway/filters/", "gateway/endpoints/", "gateway/registry/"]
    const placeOf = (file: string): number => way.findIndex((folder) => file.startsWith(folder))
    const wrong = internal
      .filter(({ from }) => placeOf(from) >= 0 && !free(from))
      .filter(({ from, target }) => placeOf(target) >= 0 && placeOf(target) < placeOf(from))
    expect(wrong).toEqual([])
  })

  test("nothing imports cli", () => {
    expect(
      internal.filter(({ from, target }) => topOf(target) === "cli" && topOf(from) !== "cli" && !free(from)),
    ).toEqual([])
  })

  test("sources import neither tests nor what tests use", () => {
    const wrong = internal.filter(({ from, target }) => !free(from) && free(target))
    expect(wrong).toEqual([])
  })

  test("relative imports name files that are there, with their extension", () => {
    expect(internal.filter(({ target }) => !existsSync(path.join(root, target)))).toEqual([])
  })

  const packages: { name: string; allowed: (file: string, typeOnly: boolean) => boolean; why: string }[] = [
    {
      name: "express",
      allowed: (file) => /^gateway\/(admin|filters)\//.test(file),
      why: "it routes the admin surface; requests to control planes have paths of their own, and no time for it",
    },
    { name: "level", allowed: (file) => file.startsWith("storage/level/"), why: "one place opens databases" },
    {
      name: "@kubernetes/client-node",
      allowed: (file, typeOnly) => typeOnly || file.startsWith("test/"),
      why: "it costs 86 MB to load: types only",
    },
  ]

  test.each(packages)("$name is imported only where it may be", ({ name, allowed, why }) => {
    const wrong = imports.filter(
      ({ from, target, typeOnly }) => target === name && !free(from) && !allowed(from, typeOnly),
    )
    expect(wrong, why).toEqual([])
  })

  test("packages are those of package.json", () => {
    const { dependencies, devDependencies } = JSON.parse(text("package.json")) as Record<string, Record<string, string>>
    const product = new Set(Object.keys(dependencies ?? {}))
    const all = new Set([...product, ...Object.keys(devDependencies ?? {})])
    const wrong = imports.filter(({ from, target, typeOnly }) => {
      if (target.startsWith(".") || target.startsWith("node:")) return false
      const name = target
        .split("/")
        .slice(0, target.startsWith("@") ? 2 : 1)
        .join("/")
      if (typeOnly && name === "abstract-level") return false // the types of level
      return !(free(from) ? all : product).has(name) && target !== "vitest/config"
    })
    expect(wrong).toEqual([])
  })
})

describe("folders", () => {
  test("are those of the design", () => {
    const found = readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && !notOurs.has(entry.name))
      .map(({ name }) => name)
    expect(found.sort()).toEqual(Object.keys(folders).sort())
  })

  test.each(Object.entries(folders))("%s says what it is", (folder, { main }) => {
    const first = text(`${folder}/${main}`)
      .split("\n")
      .filter((line) => !line.startsWith("#!"))[0]
    expect(first).toMatch(/^(\/\/|#) \S/)
  })
})

describe("files", () => {
  test("have kebab-case names", () => {
    const wrong = files.filter(
      (file) =>
        !/^[a-z0-9][a-z0-9./-]*$/.test(file) &&
        // Names that tools ask for.
        !/(^|\/)(README\.md|Dockerfile|Chart\.yaml|NOTES\.txt)$/.test(file) &&
        !file.startsWith("bench/results/"),
    )
    expect(wrong).toEqual([])
  })

  test("are not called utils, helpers, common or misc", () => {
    expect(files.filter((file) => /(^|[/-])(utils?|helpers?|common|misc|manager)([/.-]|$)/.test(file))).toEqual([])
  })

  test("have StatusErrors made by their constructors, or of what others have sent", () => {
    const ofOthers = ["client/http/client.ts", "client/http/errors.ts", "gateway/workers/channel.ts"]
    const made = ["apimachinery/status.ts", "gateway/admission/webhooks/call.ts", ...ofOthers]
    const wrong = sources.filter(
      (file) => !free(file) && !made.includes(file) && text(file).includes("new StatusError("),
    )
    expect(wrong).toEqual([])
  })

  test("have no default exports, enums or disabled checks", () => {
    const wrong = sources.filter((file) =>
      /^export default|^(export )?(const )?enum |@ts-(ignore|nocheck)/m.test(text(file)),
    )
    // Plugins of the linter are its to load, by their default exports.
    const others = wrong.filter((file) => file !== "test/architecture.test.ts" && !file.startsWith("test/lint/"))
    expect(others).toEqual([])
  })
})

describe("documents", () => {
  /** The whole path, or its end. */
  const isSource = (name: string): boolean => files.some((file) => file === name || file.endsWith(`/${name}`))

  test("lead only to files that exist", () => {
    const documents = [...readdirSync(root), ...files].filter((file) => file.endsWith(".md"))
    expect(documents.length).toBeGreaterThan(10)
    const broken = documents.flatMap((document) =>
      [...text(document).matchAll(/\]\((?!https?:|#)([^()#\s]+)(?:[#\s][^()]*)?\)/g)]
        .map(([, target]) => path.join(path.dirname(document), target ?? ""))
        .filter((target) => !existsSync(path.join(root, target)))
        .map((target) => `${document} → ${target}`),
    )
    expect(broken).toEqual([])
  })

  test("decisions have their number in their title, and stand in the list", () => {
    const list = text("docs/decisions/README.md")
    const decisions = files.filter((file) => /^docs\/decisions\/\d{4}-/.test(file))
    const wrong = decisions.filter((file) => {
      const [title = ""] = text(file).split("\n")
      const name = path.basename(file)
      return !title.startsWith(`# ${name.slice(0, 4)}: `) || !list.includes(`[${title.slice(2)}](${name})`)
    })
    expect(wrong).toEqual([])
  })

  test("ARCHITECTURE.md names only files that exist", () => {
    const named = [...text("ARCHITECTURE.md").matchAll(/`([\w@./-]+\.(?:ts|md|json|sh))`/g)].map(
      ([, file]) => file ?? "",
    )
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((name) => !isSource(name) && !existsSync(path.join(root, name)))).toEqual([])
  })

  test("documents and comments name only sources that exist", () => {
    const comments = sources.map((file): [string, string[]] => [
      file,
      text(file).match(/(?:^|[ \t])(?:\/\/|\/?\*) .*$/gm) ?? [],
    ])
    const others = [...readdirSync(root), ...files].filter((file) => file.endsWith(".md"))
    const lines = [...comments, ...others.map((file): [string, string[]] => [file, [text(file)]])]
    const wrong = lines.flatMap(([file, texts]) =>
      texts
        .flatMap((each) => [...each.matchAll(/(?<![\w/.*@~$-])[\w.-][\w./@-]*\.(?:ts|mjs)(?![\w-])/g)])
        .filter(([name]) => !isSource(name) && !existsSync(path.join(root, path.dirname(file), name)))
        .filter(([name]) => !existsSync(path.join(root, name)))
        .map(([name]) => `${file}: ${name}`),
    )
    expect(wrong).toEqual([])
  })

  const guarantees = text("ARCHITECTURE.md")
    .split("## Guarantees")[1]
    ?.split("\n## ")[0]
    ?.split("\n")
    .filter((line) => /^\| \d/.test(line))
    .map((line): [string, string] => [line.split("|")[2]?.trim() ?? "", line.split("|")[3] ?? ""])

  test("ARCHITECTURE.md gives guarantees", () => expect(guarantees?.length).toBeGreaterThan(5))

  test.each(guarantees ?? [])("the guarantee names what shows it: %s", (_guarantee, shownBy) => {
    const named = [...shownBy.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? "")
    const isShown = (name: string): boolean =>
      name.endsWith("/")
        ? sources.some((file) => file.startsWith(name) && file.endsWith(".test.ts"))
        : existsSync(path.join(root, name))
    expect(named.filter((name) => !isShown(name))).toEqual([])
    expect(named.filter((name) => /\.test\.ts$|\/$|\/testing\//.test(name))).not.toEqual([])
  })
})
