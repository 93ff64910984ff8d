import type { ServerResponse } from "node:http"
import { expect, test } from "vitest"
import { Arrivals } from "../request/arrivals.ts"
import { Sweeper } from "./untaken.ts"

test("an answer that had ended a sweep ago is destroyed, and those in progress are not", () => {
  const destroyed: string[] = []
  const active = new Arrivals<{ response: ServerResponse }>()
  const answering = (name: string, progress: { writableEnded?: boolean; isEnding?: boolean }) => {
    const response = { writableEnded: false, ...progress, destroy: () => void destroyed.push(name) }
    const remove = active.add({ response: response as unknown as ServerResponse })
    return { response, remove }
  }
  const later = answering("later", {})
  const taken = answering("taken", { writableEnded: true })
  answering("untaken", { writableEnded: true })
  answering("held back", { isEnding: true })
  const sweeper = new Sweeper(active)
  sweeper.sweep()
  expect(destroyed).toEqual([])
  taken.remove()
  later.response.writableEnded = true
  sweeper.sweep()
  expect(destroyed).toEqual(["untaken", "held back"])
  sweeper.sweep()
  expect(destroyed).toEqual(["untaken", "held back", "later"])
})
